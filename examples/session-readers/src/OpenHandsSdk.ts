import { readdirSync, statSync } from "node:fs"
import { basename, join } from "node:path"
import { Builder } from "./internal/Builder.ts"
import * as chat from "./internal/chat.ts"
import {
  array,
  fail,
  jsonFile,
  type Json,
  number,
  object,
  objects,
  type Place,
  string
} from "./internal/json.ts"
import type { Session } from "./Session.ts"

/**
 * Reads what the OpenHands SDK logs of its model calls: a folder with one file a call (`litellm_*.json`; each
 * request begins with the messages of the one before), or a file with nothing but a list of chat messages.
 *
 * The messages are those of the last request and its answer. Each file is one request, made at the file's
 * time less its latency. In a bare list each assistant message is a request without usage.
 *
 * Fails with `SessionFileError` that names the file, also where a request does not begin with the one before.
 *
 * @example
 * ```ts
 * import { read } from "@varve-examples/session-readers/OpenHandsSdk"
 *
 * const sizes = (folder: string) => read(folder).requests.map(({ at }) => at)
 * ```
 */
export const read = (path: string): Session => {
  const place = { file: path }
  if (!isFolder(place)) {
    const builder = new Builder()
    const system = add(builder, place, objects(place, jsonFile(path), "the file"))
    return builder.done(basename(path, ".json"), { system })
  }
  const files = readdirSync(path)
    .filter((name) => /^litellm_.*\.json$/.test(name))
    .toSorted()
  return calls(
    place,
    files.map((name) => join(path, name))
  )
}

const isFolder = (place: Place): boolean => {
  try {
    return statSync(place.file).isDirectory()
  } catch (cause) {
    return fail(place, "can't be read: is it there?", cause)
  }
}

const calls = (folder: Place, files: ReadonlyArray<string>): Session => {
  const builder = new Builder()
  let before: ReadonlyArray<Json> = []
  let system: string | undefined
  let tools: ReadonlyArray<unknown> | undefined
  if (files.length === 0) fail(folder, "has no files named litellm_*.json")
  for (const file of files) {
    const place = { file }
    const call = object(place, jsonFile(file), "the file")
    const messages = objects(place, call.messages, "messages")
    const same = before.every((message, i) => sameMessage(message, messages[i]))
    if (!same) fail(place, "its messages don't begin with those of the call before")
    const response = object(place, call.response, "response")
    // The answer of the call before is part of this one's messages, and was added with its usage then.
    const fresh = messages.slice(before.length)
    system = add(builder, place, fresh) ?? system
    tools = array(place, call.tools, "tools")
    const message = object(
      place,
      objects(place, response.choices, "choices")[0]?.message,
      "choices[0].message"
    )
    const ended = number(place, call.timestamp, "timestamp")
    builder.assistant(chat.answer(place, message, "response"), {
      usage: chat.usage(object(place, response.usage, "response.usage")),
      model: string(place, response.model, "response.model"),
      timestamp: Math.round((ended - number(place, call.latency_sec, "latency_sec")) * 1000)
    })
    before = [...messages, message]
  }
  return builder.done(basename(folder.file), { system, tools })
}

/** Requests hold text as parts where responses hold it as a string, and drop an index of the calls. */
const sameMessage = (a: Json, b: Json | undefined): boolean =>
  b !== undefined && facts(a) === facts(b)

const facts = (message: Json): string => {
  const place = { file: "" }
  const content = chat.answer(place, message, "")
  return JSON.stringify([message.role, message.tool_call_id, content])
}

/** Adds messages; gives the system prompt if it is among them. */
const add = (builder: Builder, place: Place, messages: ReadonlyArray<Json>): string | undefined => {
  let system: string | undefined
  messages.forEach((message, i) => {
    const at = `messages[${i}]`
    const content = () => chat.content(place, message.content, `${at}.content`)
    if (message.role === "system") {
      system = content()
        .map((block) => (block.type === "text" ? block.text : ""))
        .join("")
    } else if (message.role === "user") builder.user(content())
    else if (message.role === "assistant") builder.assistant(chat.answer(place, message, at))
    else if (message.role === "tool") {
      builder.result(string(place, message.tool_call_id, `${at}.tool_call_id`), content())
    } else builder.skip(`role ${string(place, message.role, `${at}.role`)}`)
  })
  return system
}
