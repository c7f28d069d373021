import { basename } from "node:path"
import { Builder } from "./internal/Builder.ts"
import * as chat from "./internal/chat.ts"
import { jsonFile, number, object, objects, string } from "./internal/json.ts"
import type { Session } from "./Session.ts"

/**
 * Reads an event stream of Agent TARS (a JSON array, though such files may be named `.jsonl`).
 *
 * Screens come as user messages of their own ("Current browser:"). The assistant's text still holds the call as
 * the model wrote it. One call id may be used again for every call; ids are kept as they are. There is no usage.
 * A result that is data goes as its JSON. Tools are those that were called.
 *
 * Left out and counted: `tool_call` events, which repeat the calls of the message before.
 *
 * Fails with `SessionFileError` that names the file.
 *
 * @example
 * ```ts
 * import { read } from "@varve-examples/session-readers/UiTars"
 *
 * const screens = (file: string) => read(file).messages.filter(({ role }) => role === "user").length - 1
 * ```
 */
export const read = (path: string): Session => {
  const place = { file: path }
  const builder = new Builder()
  const tools = new Map<unknown, unknown>()
  objects(place, jsonFile(path), "the file").forEach((event, i) => {
    const at = `[${i}]`
    const type = string(place, event.type, `${at}.type`)
    const timestamp = number(place, event.timestamp, `${at}.timestamp`)
    if (type === "user_message")
      builder.user(chat.content(place, event.content, `${at}.content`), timestamp)
    else if (type === "assistant_message") {
      const blocks = chat.answer(place, { content: event.content, tool_calls: event.toolCalls }, at)
      builder.assistant(blocks, { timestamp })
    } else if (type === "tool_result") {
      const output =
        typeof event.content === "string" ? event.content : JSON.stringify(event.content)
      const id = string(place, event.toolCallId, `${at}.toolCallId`)
      builder.result(id, [{ type: "text", text: output }], timestamp, event.error !== undefined)
    } else {
      if (type === "tool_call") tools.set(event.name, object(place, event.tool, `${at}.tool`))
      builder.skip(type)
    }
  })
  return builder.done(basename(path, ".jsonl"), { tools: [...tools.values()] })
}
