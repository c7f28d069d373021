import { basename } from "node:path"
import * as anthropic from "./internal/anthropic.ts"
import { Builder, text } from "./internal/Builder.ts"
import {
  count,
  type Json,
  jsonLines,
  object,
  objects,
  type Place,
  string,
  time
} from "./internal/json.ts"
import type { Block, UserMessage } from "./Message.ts"
import type { Session } from "./Session.ts"

const STOP: ReadonlyMap<unknown, string> = new Map([
  ["end_turn", "stop"],
  ["stop_sequence", "stop"],
  ["tool_use", "toolUse"],
  ["max_tokens", "length"]
])

/**
 * Reads a Claude Code log (JSONL): a session, or the log of a subagent (`agent-*.jsonl`).
 *
 * One API message is split over several lines with one block each, and each line repeats the usage, which
 * grows while the answer streams: they become one message with the last usage. Every `tool_result` becomes
 * a message of its own, images kept; its second copy under `toolUseResult` is not read.
 *
 * Text that went to the model beside the prompts is kept where the log has it: meta lines as user messages,
 * a list of skills as one more block of the prompt before it. The system prompt, the tools' definitions and
 * the wording of reminders (`todo_reminder`) are not in these logs, so reported usage is higher than what
 * the messages hold. Left out and counted: lines of subagents inside of a session, answers that
 * Claude Code wrote itself (API errors), and lines that hold no message (progress, snapshots, queue operations).
 *
 * Fails with `SessionFileError` that names file and line.
 *
 * @example
 * ```ts
 * import { read } from "@varve-examples/session-readers/ClaudeCode"
 *
 * const billed = (file: string) =>
 *   read(file).requests.reduce((sum, request) => sum + (request.usage?.output ?? 0), 0)
 * ```
 */
export const read = (path: string): Session => {
  const lines = jsonLines(path)
  const builder = new Builder()
  const first = lines.find(({ entry }) => entry.type === "user" || entry.type === "assistant")
  const subagent = first?.entry.isSidechain === true
  let answer: Answer | undefined
  const close = () => {
    if (answer !== undefined) finish(builder, answer)
    answer = undefined
  }
  for (const { place, entry } of lines) {
    const type = string(place, entry.type, "type")
    if (entry.isSidechain === true && !subagent) builder.skip("sidechain")
    else if (type === "assistant") {
      const message = object(place, entry.message, "message")
      if (message.model === "<synthetic>") {
        builder.skip("synthetic answer")
        continue
      }
      const id = string(place, message.id, "message.id")
      if (answer?.id !== id) close()
      answer ??= {
        id,
        blocks: [],
        timestamp: time(place, entry.timestamp, "timestamp"),
        place,
        message
      }
      answer.message = message
      answer.blocks.push(
        ...objects(place, message.content, "message.content").map((from) =>
          anthropic.block(place, from)
        )
      )
    } else if (type === "user") {
      close()
      prompt(builder, place, entry)
    } else if (type === "attachment")
      attachment(builder, place, object(place, entry.attachment, "attachment"))
    else builder.skip(type)
  }
  close()
  return builder.done(basename(path, ".jsonl"))
}

interface Answer {
  readonly id: string
  readonly blocks: Array<Block>
  readonly timestamp: number
  readonly place: Place
  /** The message of the newest line: its usage is complete. */
  message: Json
}

const finish = (builder: Builder, { blocks, message, place, timestamp }: Answer): void => {
  const usage = object(place, message.usage, "message.usage")
  builder.assistant(blocks, {
    model: string(place, message.model, "message.model"),
    stopReason: STOP.get(message.stop_reason),
    timestamp,
    usage: {
      input: count(usage.input_tokens),
      cacheRead: count(usage.cache_read_input_tokens),
      cacheWrite: count(usage.cache_creation_input_tokens),
      output: count(usage.output_tokens)
    }
  })
}

const prompt = (builder: Builder, place: Place, entry: Json): void => {
  const { content } = object(place, entry.message, "message")
  const timestamp = time(place, entry.timestamp, "timestamp")
  if (typeof content === "string") return builder.user(content, timestamp)
  const { others, results } = anthropic.split(objects(place, content, "message.content"))
  for (const result of results) {
    const id = string(place, result.tool_use_id, "tool_use_id")
    builder.result(id, resultContent(place, result.content), timestamp, result.is_error === true)
  }
  const rest = others.map((from) => anthropic.block(place, from))
  if (rest.length > 0) builder.user(rest, timestamp)
}

const resultContent = (place: Place, content: unknown): ReadonlyArray<Block> => {
  if (content === undefined || typeof content === "string") return text(content)
  return objects(place, content, "tool_result.content").map((from) => anthropic.block(place, from))
}

/** The attachment that holds its text plainly joins the prompt that it was sent with. */
const attachment = (builder: Builder, place: Place, attached: Json): void => {
  const type = string(place, attached.type, "attachment.type")
  const last = builder.messages.at(-1)
  if (type !== "skill_listing" || last?.role !== "user") return builder.skip(`attachment ${type}`)
  const content = typeof last.content === "string" ? text(last.content) : last.content
  const joined: UserMessage = {
    ...last,
    content: [...content, ...text(string(place, attached.content, "attachment.content"))]
  }
  builder.messages[builder.messages.length - 1] = joined
}
