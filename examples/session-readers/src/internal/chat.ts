import type { Block, Usage } from "../Message.ts"
import { text } from "./Builder.ts"
import { dataUri } from "./images.ts"
import { count, isObject, type Json, object, objects, parsed, type Place, string } from "./json.ts"

/** The content of a chat completions message. Parts of other types pass through as they are. */
export const content = (place: Place, value: unknown, what: string): ReadonlyArray<Block> => {
  if (value === null || value === undefined || typeof value === "string") return text(value)
  return objects(place, value, what).flatMap((part) => {
    if (part.type === "text") return text(string(place, part.text, `${what}.text`))
    if (part.type !== "image_url") return [part as unknown as Block]
    const { url } = object(place, part.image_url, `${what}.image_url`)
    return [dataUri(place, string(place, url, `${what}.image_url.url`), `${what}.image_url.url`)]
  })
}

/** The blocks of an assistant's chat completions message: text, then calls. */
export const answer = (place: Place, message: Json, what: string): ReadonlyArray<Block> => [
  ...content(place, message.content, `${what}.content`),
  ...objects(place, message.tool_calls ?? [], `${what}.tool_calls`).map((call): Block => {
    const made = object(place, call.function, `${what}.tool_calls.function`)
    return {
      type: "toolCall",
      id: string(place, call.id, `${what}.tool_calls.id`),
      name: string(place, made.name, `${what}.tool_calls.function.name`),
      arguments: parsed(made.arguments)
    }
  })
]

/** Chat completions usage: the prompt has the cached tokens in it. LiteLLM adds Anthropic's counts. */
export const usage = (from: Json): Usage => {
  const details = isObject(from.prompt_tokens_details) ? from.prompt_tokens_details : {}
  const cacheRead = Math.max(count(details.cached_tokens), count(from.cache_read_input_tokens))
  const cacheWrite = count(from.cache_creation_input_tokens)
  return {
    input: count(from.prompt_tokens) - cacheRead - cacheWrite,
    cacheRead,
    cacheWrite,
    output: count(from.completion_tokens)
  }
}
