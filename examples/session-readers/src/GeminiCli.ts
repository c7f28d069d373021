import { basename } from "node:path"
import { Builder, text } from "./internal/Builder.ts"
import {
  count,
  type Json,
  jsonFile,
  object,
  objects,
  type Place,
  string,
  time
} from "./internal/json.ts"
import type { Block, Usage } from "./Message.ts"
import type { Session } from "./Session.ts"

/**
 * Reads a session file of the Gemini CLI (one JSON object).
 *
 * A reply holds its calls and their results together; they become one assistant message and one result each.
 * A reply may stand for several requests (a read, then a write of what was read) but has one usage: how many
 * there were is not in the file, so it counts as one. Output is the reply and the thoughts. The file has no
 * system prompt and no tool definitions. Left out and counted: summaries of thoughts, and messages of the
 * program to its user.
 *
 * Fails with `SessionFileError` that names the file.
 *
 * @example
 * ```ts
 * import { read } from "@varve-examples/session-readers/GeminiCli"
 *
 * const prompts = (file: string) => read(file).messages.filter(({ role }) => role === "user").length
 * ```
 */
export const read = (path: string): Session => {
  const place = { file: path }
  const session = object(place, jsonFile(path), "the file")
  const builder = new Builder()
  objects(place, session.messages, "messages").forEach((message, i) => {
    const at = `messages[${i}]`
    const timestamp = time(place, message.timestamp, `${at}.timestamp`)
    const type = string(place, message.type, `${at}.type`)
    if (type === "user") builder.user(string(place, message.content, `${at}.content`), timestamp)
    else if (type === "gemini") reply(builder, place, message, at, timestamp)
    else builder.skip(type)
  })
  return builder.done(basename(path, ".json"))
}

const reply = (
  builder: Builder,
  place: Place,
  message: Json,
  at: string,
  timestamp: number
): void => {
  const thoughts = objects(place, message.thoughts ?? [], `${at}.thoughts`)
  for (const _ of thoughts) builder.skip("thought")
  const calls = objects(place, message.toolCalls ?? [], `${at}.toolCalls`)
  const blocks = calls.map((call): Block => ({
    type: "toolCall",
    id: string(place, call.id, `${at}.id of a call`),
    name: string(place, call.name, `${at}.name of a call`),
    arguments: call.args
  }))
  builder.assistant([...text(string(place, message.content, `${at}.content`)), ...blocks], {
    usage: usage(object(place, message.tokens, `${at}.tokens`)),
    model: string(place, message.model, `${at}.model`),
    timestamp
  })
  for (const call of calls) {
    const parts = objects(place, call.result, `${at}.result of a call`)
    const content = parts.flatMap((part) => {
      if (part.functionResponse === undefined) builder.skip("part of a result")
      return part.functionResponse === undefined
        ? []
        : text(
            response(
              object(
                place,
                object(place, part.functionResponse, "functionResponse").response,
                "response"
              )
            )
          )
    })
    const ended = time(place, call.timestamp, `${at}.timestamp of a call`)
    builder.result(
      string(place, call.id, `${at}.id of a call`),
      content,
      ended,
      call.status !== "success"
    )
  }
}

const response = (value: Json): string =>
  typeof value.output === "string" ? value.output : JSON.stringify(value)

/** `input` has the cached ones in it. */
const usage = (tokens: Json): Usage => ({
  input: count(tokens.input) - count(tokens.cached),
  cacheRead: count(tokens.cached),
  cacheWrite: 0,
  output: count(tokens.output) + count(tokens.thoughts)
})
