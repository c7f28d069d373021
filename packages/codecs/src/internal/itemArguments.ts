import type { ToolCallBlock } from "@varve/core/Message"
import type { Loose } from "./values.ts"
import { isRecord, jsonText, parsed } from "./values.ts"

/** What a call of another kind says beside its ids. */
const SAYS = ["action", "actions", "operation", "arguments", "input"]

/** The arguments of a call item, as strategies see them. */
export const argumentsOf = (item: Loose): unknown => {
  if (item.type === "function_call") return parsed(item.arguments)
  if (item.type === "custom_tool_call") return item.input
  return Object.fromEntries(SAYS.filter((key) => key in item).map((key) => [key, item[key]]))
}

/** The name of what a call item calls. */
export const nameOf = ({ name, type }: Loose): string =>
  typeof name === "string" ? name : String(type).replace(/_call$/, "")

/** A call item with other arguments, each in the form in which the host had it. */
export const withArguments = (item: Loose, { arguments: given }: ToolCallBlock): Loose => {
  if (item.type === "function_call") return { ...item, arguments: jsonText(given) }
  if (item.type === "custom_tool_call") {
    const isEmpty = isRecord(given) && Object.keys(given).length === 0
    return { ...item, input: isEmpty ? "" : jsonText(given) }
  }
  return isRecord(given) ? { ...item, ...given } : item
}
