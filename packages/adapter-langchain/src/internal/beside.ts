import type { CacheMark } from "@varve/codecs/Codec"
import type { ModelCall } from "../LangChainAgent.ts"

interface Beside {
  readonly system?: string | ReadonlyArray<{ readonly text?: unknown }> | undefined
  readonly tools?: ReadonlyArray<unknown> | undefined
  /** Anthropic's mark for the whole request, as LangChain's own caching middleware sets one. */
  readonly automatic?: CacheMark | undefined
}

const isObject = (u: unknown): u is Record<string, unknown> => typeof u === "object" && u !== null

const isText = (u: unknown): u is string => typeof u === "string" && u !== ""

/** The JSON schema that is sent for a tool's arguments, as far as it can be had without LangChain. */
const parametersOf = (schema: unknown): unknown => {
  if (!isObject(schema)) return undefined
  try {
    if (typeof schema.toJSONSchema === "function") return schema.toJSONSchema() as unknown
  } catch {
    // One that JSON has no words for: its fields have to do.
  }
  // zod 3 says of a field what it is for, and no more in plain words.
  if (isObject(schema.shape)) {
    const fields = Object.entries(schema.shape).map(([name, field]) => {
      const { description } = isObject(field) ? field : {}
      return [name, { type: "string", description }]
    })
    return { type: "object", properties: Object.fromEntries(fields) as object }
  }
  return schema
}

/** What of a tool reaches the model: a tool of the provider's own as it is. */
const declared = (tool: unknown): unknown => {
  if (!isObject(tool) || !isText(tool.name) || tool.schema === undefined) return tool
  const { description, name, schema } = tool
  return { name, description, parameters: parametersOf(schema) }
}

const same = (a: ReadonlyArray<unknown>, b: ReadonlyArray<unknown>): boolean =>
  a.length === b.length && a.every((x, i) => x === b[i])

/** The system text: a text, or the blocks of a message, which may have cache marks. */
const systemOf = ({ systemMessage, systemPrompt }: ModelCall): Beside["system"] => {
  const content = isObject(systemMessage) ? systemMessage.content : undefined
  if (isText(content)) return content
  const blocks = Array.isArray(content) ? content.filter(isObject) : []
  // Where there is none, LangChain's message has one empty text, and isn't sent.
  if (blocks.some(({ text }) => isText(text))) return blocks
  return isText(systemPrompt) ? systemPrompt : undefined
}

/**
 * Makes a function that says what a model call carries beside its messages. The same tools give the same
 * list, so that they are counted once. Never throws.
 */
export const besides = () => {
  let known: { readonly of: ReadonlyArray<unknown>; readonly tools: ReadonlyArray<unknown> } = {
    of: [],
    tools: []
  }
  return (call: ModelCall): Beside => {
    try {
      const of: ReadonlyArray<unknown> = Array.isArray(call.tools) ? call.tools : []
      if (!same(known.of, of)) known = { of: of.slice(), tools: of.map(declared) }
      const { cache_control: mark } = isObject(call.modelSettings) ? call.modelSettings : {}
      return {
        system: systemOf(call),
        tools: of.length === 0 ? undefined : known.tools,
        automatic: isObject(mark) ? mark : undefined
      }
    } catch {
      return {}
    }
  }
}
