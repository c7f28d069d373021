/** Tokens that OpenAI's way to write functions costs beside names and descriptions (its cookbook, for gpt-4o). */
const FUNCTION = 7
const PROPERTIES = 3
const PROPERTY = 3
const ENUM = -3
const ENUM_ITEM = 3
const END = 12

type Json = Readonly<Record<string, unknown>>

const isObject = (u: unknown): u is Json => typeof u === "object" && u !== null && !Array.isArray(u)
const string = (u: unknown): string => (typeof u === "string" ? u : "")

/** The cookbook leaves out the full stop at the end of a description. */
const described = (u: unknown): string => string(u).replace(/\.$/, "")

/**
 * The tokens of tool definitions as OpenAI's models get them: written out as functions, not as JSON.
 *
 * Takes definitions in the shapes of Chat Completions, Responses, Anthropic and pi. The published formula is
 * for flat parameters; what is nested is counted as its JSON. One that is no function costs its JSON.
 *
 * @example
 * ```ts
 * import { functionTokens } from "@varve/tokenizer/FunctionTokens"
 *
 * const words = (text: string) => text.split(/\W+/).length
 * const tool = { name: "click", description: "Click.", parameters: { properties: { x: { type: "number" } } } }
 *
 * console.log(functionTokens([tool], words)) // => 30
 * ```
 */
export const functionTokens = (
  tools: ReadonlyArray<unknown>,
  text: (text: string) => number
): number => {
  let tokens = tools.length > 0 ? END : 0
  for (const tool of tools) tokens += oneFunction(tool, text)
  return tokens
}

const oneFunction = (tool: unknown, text: (text: string) => number): number => {
  const given = isObject(tool) && isObject(tool.function) ? tool.function : tool
  if (!isObject(given) || typeof given.name !== "string") return json(given, text)
  const schema = given.parameters ?? given.input_schema ?? given.inputSchema
  const properties = isObject(schema) && isObject(schema.properties) ? schema.properties : {}
  let tokens = FUNCTION + text(`${given.name}:${described(given.description)}`)
  const entries = Object.entries(properties)
  if (entries.length > 0) tokens += PROPERTIES
  for (const [key, value] of entries) tokens += PROPERTY + property(key, value, text)
  return tokens
}

const property = (key: string, value: unknown, text: (text: string) => number): number => {
  if (!isObject(value)) return text(key)
  let tokens = text(`${key}:${string(value.type)}:${described(value.description)}`)
  if (Array.isArray(value.enum)) {
    tokens += ENUM
    for (const item of value.enum) tokens += ENUM_ITEM + text(String(item))
  }
  for (const nested of [value.properties, value.items, value.anyOf]) {
    if (nested !== undefined) tokens += json(nested, text)
  }
  return tokens
}

const json = (value: unknown, text: (text: string) => number): number => {
  try {
    return text(JSON.stringify(value) ?? "")
  } catch {
    return 0
  }
}
