import { basename } from "node:path"
import { Builder } from "./internal/Builder.ts"
import {
  count,
  type Json,
  jsonLines,
  object,
  objects,
  parsed,
  type Place,
  string,
  time
} from "./internal/json.ts"
import type { Block, Usage } from "./Message.ts"
import type { Session } from "./Session.ts"

/**
 * Reads a rollout of the Codex CLI (JSONL of OpenAI Responses items).
 *
 * The items of one response become one assistant message: reasoning (its item as the signature), text, and
 * calls. A `token_count` closes a response and carries its usage. The base instructions are the system prompt,
 * a developer message is a message of role system in its place. A search that the provider runs itself has
 * no result and stays in the assistant message as a block of its own type. The log has no tool definitions.
 * Whether a tool failed is not in the items: `isError` is false throughout.
 *
 * Left out and counted: other events, which repeat the items for a screen, and turn contexts.
 *
 * Fails with `SessionFileError` that names file and line.
 *
 * @example
 * ```ts
 * import { read } from "@varve-examples/session-readers/Codex"
 *
 * const contexts = (file: string) =>
 *   read(file).requests.map(({ usage }) => (usage === undefined ? 0 : usage.input + usage.cacheRead))
 * ```
 */
export const read = (path: string): Session => {
  const builder = new Builder()
  let system: string | undefined
  let model: string | undefined
  let answer: Answer = empty()
  const close = (usage?: Usage) => {
    const { blocks, results, timestamp } = answer
    if (blocks.length > 0) builder.assistant(blocks, { usage, model, timestamp })
    for (const { id, output, at } of results)
      builder.result(id, [{ type: "text", text: output }], at)
    answer = empty()
  }
  for (const { place, entry } of jsonLines(path)) {
    const type = string(place, entry.type, "type")
    const payload = object(place, entry.payload, "payload")
    const at = time(place, entry.timestamp, "timestamp")
    if (type === "session_meta") {
      system = string(
        place,
        object(place, payload.base_instructions, "base_instructions").text,
        "text"
      )
    } else if (type === "turn_context") {
      model = string(place, payload.model, "model")
      builder.skip(type)
    } else if (type === "response_item") {
      const kind = string(place, payload.type, "payload.type")
      if (kind === "message" && payload.role !== "assistant") {
        close()
        input(builder, place, payload, at)
      } else if (kind === "function_call_output" || kind === "custom_tool_call_output") {
        const id = string(place, payload.call_id, "call_id")
        const result = { id, output: string(place, payload.output, "output"), at }
        // A quick tool may end before the response does; its result belongs behind the message.
        if (answer.blocks.length > 0) answer.results.push(result)
        else builder.result(id, [{ type: "text", text: result.output }], at)
      } else {
        answer.timestamp ??= at
        answer.blocks.push(...output(place, kind, payload))
      }
    } else if (payload.type === "token_count") close(usage(place, payload))
    else builder.skip(`${type} ${string(place, payload.type, "payload.type")}`)
  }
  close()
  return builder.done(basename(path, ".jsonl"), { system })
}

interface Answer {
  readonly blocks: Array<Block>
  readonly results: Array<{ readonly id: string; readonly output: string; readonly at: number }>
  timestamp?: number
}

const empty = (): Answer => ({ blocks: [], results: [] })

const input = (builder: Builder, place: Place, item: Json, timestamp: number): void => {
  const role = string(place, item.role, "role")
  const content = parts(place, item)
  if (role === "user") builder.user(content, timestamp)
  else if (role === "developer" || role === "system")
    builder.messages.push({ role: "system", content, timestamp })
  else builder.skip(`message of ${role}`)
}

const output = (place: Place, kind: string, item: Json): ReadonlyArray<Block> => {
  switch (kind) {
    case "message":
      return parts(place, item)
    case "reasoning": {
      const summary = objects(place, item.summary, "summary").map((s) =>
        string(place, s.text, "summary.text")
      )
      return [
        {
          type: "thinking",
          thinking: summary.join("\n\n"),
          thinkingSignature: JSON.stringify(item)
        }
      ]
    }
    case "function_call":
      return [call(place, item, parsed(item.arguments))]
    case "custom_tool_call":
      return [call(place, item, { input: item.input })]
    default:
      return [item as unknown as Block]
  }
}

const call = (place: Place, item: Json, args: unknown): Block => ({
  type: "toolCall",
  id: string(place, item.call_id, "call_id"),
  name: string(place, item.name, "name"),
  arguments: args
})

/** The parts of a message. Those of other types pass through as they are. */
const parts = (place: Place, item: Json): ReadonlyArray<Block> =>
  objects(place, item.content, "content").map((from) =>
    from.type === "input_text" || from.type === "output_text"
      ? { type: "text", text: string(place, from.text, "content.text") }
      : (from as unknown as Block)
  )

/** `input_tokens` has the cached ones in it; `output_tokens` the reasoning. */
const usage = (place: Place, payload: Json): Usage | undefined => {
  if (payload.info === null || payload.info === undefined) return undefined
  const last = object(
    place,
    object(place, payload.info, "info").last_token_usage,
    "last_token_usage"
  )
  const cacheRead = count(last.cached_input_tokens)
  return {
    input: count(last.input_tokens) - cacheRead,
    cacheRead,
    cacheWrite: 0,
    output: count(last.output_tokens)
  }
}
