import type { Block, Message } from "@varve/core/Message"
import { blocksOf, imageOf } from "@varve/core/Message"
import { changes, written } from "./changes.ts"
import { GREY } from "./grey.ts"
import { inputPart } from "./itemParts.ts"
import type { Loose } from "./values.ts"
import { isRecord, joined, jsonText, textBlock } from "./values.ts"

const STREAMS = ["stdout", "stderr"] as const

interface Slot {
  readonly entry: number
  readonly stream: (typeof STREAMS)[number]
}

const slotsOf = (output: ReadonlyArray<unknown>): ReadonlyArray<Slot> =>
  output.flatMap((entry, i) =>
    STREAMS.filter((s) => isRecord(entry) && typeof entry[s] === "string" && entry[s] !== "").map(
      (stream) => ({ entry: i, stream })
    )
  )

/** The content of an output item, and what the host has in the place of each block. */
export const readOutput = (
  item: Loose
): { readonly content: string | ReadonlyArray<Block>; readonly from: ReadonlyArray<unknown> } => {
  const { output, type } = item
  if (type === "computer_call_output" && isRecord(output)) {
    const { file_id, image_url } = output
    const block = Object.freeze({ type: "input_image", image_url, file_id }) as unknown as Block
    return { content: [block], from: [output] }
  }
  if (type === "tool_search_output") return { content: [item as unknown as Block], from: [item] }
  if (type === "shell_call_output" && Array.isArray(output)) {
    const slots = slotsOf(output)
    const content = slots.map(({ entry, stream }) => textBlock(output[entry][stream]))
    return { content, from: slots }
  }
  if (Array.isArray(output)) {
    const content = output.map((part) =>
      isRecord(part) && part.type === "input_text" ? textBlock(jsonText(part.text)) : part
    )
    return { content, from: output }
  }
  return { content: output === undefined || output === null ? "" : jsonText(output), from: [] }
}

/** An output item with other content, in the form that its kind must have. */
export const withOutput = (
  item: Loose,
  before: Message,
  after: Message,
  from: ReadonlyArray<unknown>
): Loose => {
  const { output, type } = item
  const now = blocksOf(after)
  if (type === "tool_search_output") return item
  if (type === "computer_call_output") {
    const image = now.map(imageOf).find((i) => i !== undefined)
    const url =
      image?.data === undefined ? image?.url : `data:${image.mimeType};base64,${image.data}`
    const { file_id: _, ...screen } = isRecord(output) ? output : { type: "computer_screenshot" }
    return { ...item, output: { ...screen, image_url: url ?? GREY } }
  }
  if (type === "shell_call_output" && Array.isArray(output)) {
    const next = output.map((entry) => (isRecord(entry) ? { ...entry } : entry))
    const fates = changes(before, after)
    ;(from as ReadonlyArray<Slot>).forEach(({ entry, stream }, i) => {
      next[entry][stream] = joined(fates[i] ?? [])
    })
    return { ...item, output: next }
  }
  if (Array.isArray(output)) {
    const was = blocksOf(before)
    const parts = changes(before, after).flatMap((blocks, i) =>
      written(blocks, was[i], from[i], inputPart)
    )
    return { ...item, output: parts.length === 0 ? "" : parts }
  }
  const isText = now.every((block) => block?.type === "text")
  return { ...item, output: isText ? joined(now) : now.map((block) => inputPart(block, {})) }
}

/** An output for a call that has none, of the kind that the call asks for. */
export const composeOutput = (message: Message & { role: "toolResult" }, call: Loose): Loose => {
  const { toolCallId: call_id } = message
  const blocks = blocksOf(message)
  const text = joined(blocks)
  switch (call.type) {
    case "computer_call": {
      const output = { type: "computer_screenshot", image_url: GREY }
      return withOutput({ type: "computer_call_output", call_id, output }, message, message, [])
    }
    case "shell_call": {
      const outcome = { type: "exit", exit_code: message.isError ? 1 : 0 }
      const [stdout, stderr] = message.isError ? ["", text] : [text, ""]
      return { type: "shell_call_output", call_id, output: [{ stdout, stderr, outcome }] }
    }
    case "apply_patch_call": {
      const status = message.isError ? "failed" : "completed"
      return { type: "apply_patch_call_output", call_id, status, output: text }
    }
    case "local_shell_call":
      return { type: "local_shell_call_output", id: call_id, call_id, output: text }
    case "tool_search_call":
      return { type: "tool_search_output", call_id, execution: "client", tools: [] }
  }
  const isText = blocks.every((block) => block?.type === "text")
  const output = isText ? text : blocks.map((block) => inputPart(block, {}))
  const type = call.type === "custom_tool_call" ? "custom_tool_call_output" : "function_call_output"
  return { type, call_id, output }
}
