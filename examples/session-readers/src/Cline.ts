import { basename } from "node:path"
import * as anthropic from "./internal/anthropic.ts"
import { Builder, text } from "./internal/Builder.ts"
import {
  count,
  isObject,
  type Json,
  jsonFile,
  number,
  object,
  objects,
  parsed,
  type Place,
  string
} from "./internal/json.ts"
import type { Block, Usage } from "./Message.ts"
import type { Session } from "./Session.ts"

/**
 * Reads a session of Cline (`session.messages.json`, Anthropic-like).
 *
 * Every `tool_result` becomes a message of its own; a result that is data goes as its JSON. A file that the
 * user mentioned becomes a text block with its path and its content: how Cline wraps it is not in the file.
 * The tools' definitions are not there either. Blocks of other types pass through as they are.
 *
 * Fails with `SessionFileError` that names the file.
 *
 * @example
 * ```ts
 * import { read } from "@varve-examples/session-readers/Cline"
 *
 * const models = (file: string) => new Set(read(file).requests.map(({ model }) => model))
 * ```
 */
export const read = (path: string): Session => {
  const place = { file: path }
  const session = object(place, jsonFile(path), "the file")
  const builder = new Builder()
  objects(place, session.messages, "messages").forEach((message, i) => {
    const at = `messages[${i}]`
    const role = string(place, message.role, `${at}.role`)
    const blocks = objects(place, message.content, `${at}.content`)
    const timestamp = number(place, message.ts, `${at}.ts`)
    if (role === "user") prompt(builder, place, blocks, timestamp)
    else if (role === "assistant") {
      builder.assistant(
        blocks.map((from) => block(place, from)),
        {
          usage: usage(object(place, message.metrics, `${at}.metrics`)),
          model: string(
            place,
            object(place, message.modelInfo, `${at}.modelInfo`).id,
            `${at}.modelInfo.id`
          ),
          timestamp
        }
      )
    } else builder.skip(role)
  })
  const system = string(place, session.system_prompt, "system_prompt")
  return builder.done(basename(path, ".json"), { system })
}

const prompt = (
  builder: Builder,
  place: Place,
  blocks: ReadonlyArray<Json>,
  timestamp: number
): void => {
  const { others, results } = anthropic.split(blocks)
  for (const result of results) {
    const { content } = result
    const id = string(place, result.tool_use_id, "tool_use_id")
    const output = typeof content === "string" ? content : JSON.stringify(content)
    builder.result(id, text(output), timestamp, failed(parsed(content)))
  }
  const rest = others.map((from) => block(place, from))
  if (rest.length > 0) builder.user(rest, timestamp)
}

/** Results are data, as they are or as JSON, and say for each of their parts whether it went well. */
const failed = (result: unknown): boolean =>
  [result].flat().some((part) => isObject(part) && part.success === false)

const block = (place: Place, from: Json): Block => {
  if (from.type !== "file") return anthropic.block(place, from)
  const path = string(place, from.path, "path of a file")
  return { type: "text", text: `${path}\n${string(place, from.content, "content of a file")}` }
}

/** `inputTokens` has the cached ones in it. */
const usage = (metrics: Json): Usage => {
  const cacheRead = count(metrics.cacheReadTokens)
  const cacheWrite = count(metrics.cacheWriteTokens)
  return {
    input: count(metrics.inputTokens) - cacheRead - cacheWrite,
    cacheRead,
    cacheWrite,
    output: count(metrics.outputTokens)
  }
}
