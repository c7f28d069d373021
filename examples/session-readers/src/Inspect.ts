import { basename } from "node:path"
import { Builder, text } from "./internal/Builder.ts"
import * as chat from "./internal/chat.ts"
import {
  count,
  fail,
  isObject,
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
 * Reads the first sample of a log of Inspect (JSON).
 *
 * Messages are the sample's; an assistant message is a request where a model event made it, with the event's
 * usage and time. Texts that the log keeps once (`attachment://`) are put back. Tools are those of the first
 * model event. A result has the tool's error as its text where it failed.
 *
 * Left out and counted: messages of other roles.
 *
 * Fails with `SessionFileError` that names the file.
 *
 * @example
 * ```ts
 * import { read } from "@varve-examples/session-readers/Inspect"
 *
 * const cached = (file: string) => read(file).requests.map(({ usage }) => usage?.cacheRead)
 * ```
 */
export const read = (path: string): Session => {
  const place = { file: path }
  const log = object(place, jsonFile(path), "the file")
  const sample = objects(place, log.samples, "samples")[0] ?? fail(place, "has no samples")
  const whole = attachments(sample)
  const events = objects(place, sample.events, "events").filter(({ event }) => event === "model")
  const made = new Map(events.map((event) => [answerId(place, event), event]))
  const builder = new Builder()
  let system: string | undefined
  objects(place, sample.messages, "messages").forEach((message, i) => {
    const at = `messages[${i}]`
    const role = string(place, message.role, `${at}.role`)
    const content = () => chat.content(place, whole(message.content), `${at}.content`)
    if (role === "system") system = string(place, whole(message.content), `${at}.content`)
    else if (role === "user") builder.user(content())
    else if (role === "assistant") {
      const event = made.get(string(place, message.id, `${at}.id`))
      const blocks = [...content(), ...calls(place, message, at)]
      if (event === undefined) builder.reply(blocks)
      else
        builder.assistant(blocks, {
          ...answer(place, event),
          model: string(place, message.model ?? event.model, `${at}.model`)
        })
    } else if (role === "tool") {
      const error = isObject(message.error)
        ? string(place, message.error.message, `${at}.error.message`)
        : undefined
      const id = string(place, message.tool_call_id, `${at}.tool_call_id`)
      builder.result(
        id,
        error === undefined ? content() : text(error),
        undefined,
        error !== undefined
      )
    } else builder.skip(`role ${role}`)
  })
  const tools =
    events[0] === undefined ? undefined : objects(place, whole(events[0].tools), "tools")
  return builder.done(basename(path, ".json"), { system, tools })
}

const answerId = (place: Place, event: Json): unknown => {
  const { choices } = object(place, event.output, "output of a model event")
  return object(place, objects(place, choices, "choices")[0]?.message, "choices[0].message").id
}

const calls = (place: Place, message: Json, at: string): ReadonlyArray<Block> =>
  objects(place, message.tool_calls ?? [], `${at}.tool_calls`).map((call) => ({
    type: "toolCall",
    id: string(place, call.id, `${at}.id of a call`),
    name: string(place, call.function, `${at}.function of a call`),
    arguments: call.arguments
  }))

const answer = (place: Place, event: Json) => {
  const usage = object(place, object(place, event.output, "output").usage, "usage of a model event")
  return {
    usage: tokens(usage),
    timestamp: time(place, event.timestamp, "timestamp of a model event")
  }
}

/** Whether the cached tokens are in `input_tokens` depends on the provider; the total tells. */
const tokens = (usage: Json): Usage => {
  const cacheRead = count(usage.input_tokens_cache_read)
  const cacheWrite = count(usage.input_tokens_cache_write)
  const output = count(usage.output_tokens)
  const among = count(usage.input_tokens) + output === count(usage.total_tokens)
  return {
    input: count(usage.input_tokens) - (among ? cacheRead + cacheWrite : 0),
    cacheRead,
    cacheWrite,
    output
  }
}

/** Puts attached texts back where a value points to them. */
const attachments = (sample: Json): ((value: unknown) => unknown) => {
  const texts = isObject(sample.attachments) ? sample.attachments : {}
  const whole = (value: unknown): unknown => {
    if (typeof value === "string") {
      return value.startsWith("attachment://")
        ? (texts[value.slice("attachment://".length)] ?? value)
        : value
    }
    if (Array.isArray(value)) return value.map(whole)
    if (!isObject(value)) return value
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, whole(inner)]))
  }
  return whole
}
