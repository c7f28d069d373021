import type { Block, Message } from "@varve/core/Message"

/** An object of a host, of which nothing is known. */
export type Loose = Readonly<Record<string, unknown>>

export const isRecord = (u: unknown): u is Loose =>
  typeof u === "object" && u !== null && !Array.isArray(u)

/** What a host kept as data, as the text that a model gets of it. */
export const jsonText = (value: unknown): string => {
  if (typeof value === "string") return value
  try {
    return JSON.stringify(value) ?? ""
  } catch {
    return ""
  }
}

/** The object that a JSON text holds, else the text. */
export const parsed = (text: unknown): unknown => {
  if (typeof text !== "string") return text
  if (!text.trimStart().startsWith("{")) return text
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** Arguments as an object, which some hosts insist on. */
export const asObject = (value: unknown): Loose => {
  const read = parsed(value)
  if (isRecord(read)) return read
  return read === undefined || read === null || read === "" ? {} : { input: read }
}

export const textBlock = (text: string): Block => Object.freeze({ type: "text", text })

export const sameItems = (a: ReadonlyArray<unknown>, b: ReadonlyArray<unknown>): boolean =>
  a.length === b.length && a.every((item, i) => item === b[i])

/** Texts of blocks, for a host that has one string there. */
export const joined = (blocks: ReadonlyArray<unknown>): string =>
  blocks
    .flatMap((block) => (isRecord(block) && typeof block.text === "string" ? [block.text] : []))
    .join("\n")

/** A copy without some fields. */
export const without = (value: Loose, ...fields: ReadonlyArray<string>): Loose =>
  Object.fromEntries(Object.entries(value).filter(([key]) => !fields.includes(key)))

/** A call's result of the neutral shape. */
export const resultMessage = (
  toolCallId: unknown,
  toolName: string,
  content: string | ReadonlyArray<unknown>,
  isError: boolean
): Message => ({ role: "toolResult", toolCallId, toolName, content, isError }) as unknown as Message
