import { Builder, text } from "./internal/Builder.ts"
import * as chat from "./internal/chat.ts"
import {
  array,
  count,
  fail,
  isObject,
  type Json,
  jsonLines,
  object,
  objects,
  type Place,
  string,
  time
} from "./internal/json.ts"
import type { Usage } from "./Message.ts"
import type { Session } from "./Session.ts"

/** Reads the first run of an `output.jsonl` of OpenHands; see `readAll`. */
export const read = (path: string, run = 0): Session =>
  readAll(path)[run] ?? fail({ file: path }, `has no run ${run}`)

/**
 * Reads an `output.jsonl` of OpenHands: one run a line, named after its task.
 *
 * An action that came out of a model's response becomes the assistant message as the model gave it, once for
 * each response; an observation becomes its result, with the prefix and suffix that OpenHands puts around
 * it. An error that belongs to no call went to the model as a user message (the call was malformed; neither it
 * nor its usage is in the log). A `finish` call has no result. Times have no zone and are taken as UTC.
 *
 * Left out and counted: `recall` (OpenHands puts its text into a template that is not in the file), and
 * whatever else had no part in a response.
 *
 * Fails with `SessionFileError` that names file and line.
 *
 * @example
 * ```ts
 * import { readAll } from "@varve-examples/session-readers/OpenHands"
 *
 * const names = (file: string) => readAll(file).map(({ name }) => name)
 * ```
 */
export const readAll = (path: string): ReadonlyArray<Session> =>
  jsonLines(path).map(({ place, entry }) => run(place, entry))

const run = (place: Place, entry: Json): Session => {
  const builder = new Builder()
  const usages = usageByResponse(place, entry)
  const seen = new Set<string>()
  let system: string | undefined
  let tools: ReadonlyArray<unknown> | undefined
  objects(place, entry.history, "history").forEach((event, i) => {
    const at = `history[${i}]`
    const timestamp = time(place, event.timestamp, `${at}.timestamp`)
    const call = isObject(event.tool_call_metadata) ? event.tool_call_metadata : undefined
    if (event.action === "system") {
      const args = object(place, event.args, `${at}.args`)
      system = string(place, args.content, `${at}.args.content`)
      tools = array(place, args.tools, `${at}.args.tools`)
    } else if (event.action === "message" && event.source === "user") {
      const { content } = object(place, event.args, `${at}.args`)
      builder.user(string(place, content, `${at}.args.content`), timestamp)
    } else if (event.action !== undefined && call !== undefined) {
      const response = object(place, call.model_response, `${at}.model_response`)
      const id = string(place, response.id, `${at}.model_response.id`)
      if (seen.has(id)) return
      seen.add(id)
      const choice = objects(place, response.choices, `${at}.choices`)[0]
      const message = object(place, choice?.message, `${at}.choices[0].message`)
      builder.assistant(chat.answer(place, message, at), {
        usage: usages.get(id),
        model: string(place, response.model, `${at}.model_response.model`),
        timestamp
      })
    } else if (event.observation !== undefined && call !== undefined) {
      const id = string(place, call.tool_call_id, `${at}.tool_call_id`)
      builder.result(id, text(observation(place, event, at)), timestamp, event.success === false)
    } else if (event.observation === "error") {
      builder.user(string(place, event.content, `${at}.content`), timestamp)
    } else builder.skip(string(place, event.action ?? event.observation, `${at}.action`))
  })
  return builder.done(string(place, entry.instance_id, "instance_id"), { system, tools })
}

const observation = (place: Place, event: Json, at: string): string => {
  const content = string(place, event.content, `${at}.content`)
  const extras =
    isObject(event.extras) && isObject(event.extras.metadata) ? event.extras.metadata : {}
  const around = (value: unknown) => (typeof value === "string" ? value : "")
  return around(extras.prefix) + content + around(extras.suffix)
}

/** `prompt_tokens` has the cached ones in it. */
const usageByResponse = (place: Place, entry: Json): ReadonlyMap<string, Usage> => {
  const all = objects(
    place,
    object(place, entry.metrics, "metrics").token_usages,
    "metrics.token_usages"
  )
  return new Map(
    all.map((of) => {
      const cacheRead = count(of.cache_read_tokens)
      const cacheWrite = count(of.cache_write_tokens)
      const input = count(of.prompt_tokens) - cacheRead - cacheWrite
      return [
        string(place, of.response_id, "token_usages.response_id"),
        { input, cacheRead, cacheWrite, output: count(of.completion_tokens) }
      ]
    })
  )
}
