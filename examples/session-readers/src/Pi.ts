import { basename } from "node:path"
import { Builder, defined } from "./internal/Builder.ts"
import {
  type Json,
  jsonLines,
  object,
  objects,
  type Place,
  string,
  tokens
} from "./internal/json.ts"
import type { Message } from "./Message.ts"
import type { Request, Session } from "./Session.ts"

interface Line {
  readonly place: Place
  readonly entry: Json
}

/**
 * Reads a session file of pi (JSONL): old ones, where order in the file is order in time, and newer ones,
 * where entries name their parent and the branch that ends in the last entry is read.
 *
 * Messages are kept as they are, whatever their role. Each assistant message is one request; its usage is
 * left out where pi wrote zeros (aborted or failed before an answer). Left out and counted: changes of model
 * or thinking level, entries on other branches, and compactions, so that the whole history is there.
 *
 * Fails with `SessionFileError` that names file and line.
 *
 * @example
 * ```ts
 * import { read } from "@varve-examples/session-readers/Pi"
 *
 * const show = (file: string) => console.log(read(file).messages.length)
 * ```
 */
export const read = (path: string): Session => {
  const lines = jsonLines(path)
  const builder = new Builder()
  const live = branch(lines)
  for (const line of lines) {
    const { place, entry } = line
    const type = string(place, entry.type, "type")
    if (type === "session") continue
    if (!live.has(line)) builder.skip("other branch")
    else if (type === "message") add(builder, place, object(place, entry.message, "message"))
    else if (type === "custom_message") {
      builder.messages.push({ ...entry, role: "custom" } as unknown as Message)
    } else builder.skip(type)
  }
  return builder.done(basename(path, ".jsonl"))
}

const add = (builder: Builder, place: Place, message: Json): void => {
  if (string(place, message.role, "message.role") === "assistant") {
    builder.requests.push(request(place, builder.messages.length, message))
  }
  if (Array.isArray(message.content)) objects(place, message.content, "message.content")
  builder.messages.push(message as unknown as Message)
}

const request = (place: Place, at: number, message: Json): Request => {
  const { cacheRead, cacheWrite, input, output } = object(place, message.usage, "message.usage")
  const usage = {
    input: tokens(place, input, "message.usage.input"),
    cacheRead: tokens(place, cacheRead, "message.usage.cacheRead"),
    cacheWrite: tokens(place, cacheWrite, "message.usage.cacheWrite"),
    output: tokens(place, output, "message.usage.output")
  }
  return defined({
    at,
    usage: Object.values(usage).some((n) => n > 0) ? usage : undefined,
    model: typeof message.model === "string" ? message.model : undefined,
    timestamp: typeof message.timestamp === "number" ? message.timestamp : undefined
  })
}

/** The entries from the root to the last one. Entries without an id belong to an old file: all of them. */
const branch = (lines: ReadonlyArray<Line>): ReadonlySet<Line> => {
  const entries = lines.filter(({ entry }) => entry.type !== "session")
  if (entries.some(({ entry }) => entry.id === undefined)) return new Set(entries)
  const byId = new Map(entries.map((line) => [line.entry.id, line]))
  const live = new Set<Line>()
  let line = entries.at(-1)
  while (line !== undefined && !live.has(line)) {
    live.add(line)
    line = byId.get(line.entry.parentId)
  }
  return live
}
