// Requests in each host's shape, made from the testkit's histories. Written apart from the codecs, so that a
// mistake in them can't hide here.
import type { Block, Message } from "@varve/core/Message"
import { blocksOf } from "@varve/core/Message"

type Json = Record<string, unknown>

/** Host messages in steps: a request may be made behind each of them. */
export type Steps = ReadonlyArray<ReadonlyArray<Json>>

/** What decides on extras: cache hints, ids, other forms of the same thing. */
export class Dice {
  #state: number
  constructor(seed: number) {
    this.#state = seed
  }
  roll(sides: number): number {
    this.#state = (Math.imul(this.#state ^ (this.#state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) | 0
    return ((this.#state ^ (this.#state >>> 13)) >>> 0) % sides
  }
  once(sides: number): boolean {
    return this.roll(sides) === 0
  }
}

/** A step of a history as every host has it: what was given, or an answer with its results. */
interface Part {
  readonly given: ReadonlyArray<Message>
  readonly answer: Extract<Message, { role: "assistant" }> | undefined
  readonly results: ReadonlyArray<Extract<Message, { role: "toolResult" }>>
}

const known = new Set(["user", "assistant", "toolResult", "system"])

/** Cuts a history before each answer; results stand directly behind theirs. Roles of other hosts are left out. */
export const partsOf = (history: ReadonlyArray<Message>): ReadonlyArray<Part> => {
  const parts: Array<{ given: Array<Message>; answer: Part["answer"]; results: Array<any> }> = []
  let now = {
    given: [] as Array<Message>,
    answer: undefined as Part["answer"],
    results: [] as Array<any>
  }
  parts.push(now)
  for (const raw of history) {
    if (!known.has(raw.role)) continue
    const message = raw.role === "assistant" ? withoutOdd(raw) : raw
    if (message.role === "assistant")
      parts.push((now = { given: [], answer: message, results: [] }))
    else if (message.role === "toolResult") now.results.push(message)
    else now.given.push(message)
  }
  return parts
}

/** Answers in logs hold blocks of their own host. */
const withoutOdd = (message: Part["answer"] & {}): Part["answer"] & {} => {
  if (typeof message.content === "string") return message
  const content = message.content.filter((b) => /^(text|thinking|toolCall)$/.test(b.type))
  return { ...message, content: content.length === 0 ? [{ type: "text", text: "-" }] : content }
}

export const imageUrl = (block: Block): string => {
  const { data, mimeType } = block as { data: string; mimeType: string }
  return `data:${mimeType};base64,${data}`
}

export const objectOf = (value: unknown): Json =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Json) : { value }

// Anthropic

const cached = { cache_control: { type: "ephemeral" } }

const anthropicBlock = (block: Block, dice: Dice): Json => {
  const extra = dice.once(40) ? cached : {}
  switch (block.type) {
    case "text":
      return {
        type: "text",
        text: block.text,
        ...extra,
        ...(dice.once(9) ? { citations: null } : {})
      }
    case "image":
      return {
        type: "image",
        source: { type: "base64", media_type: block.mimeType, data: block.data },
        ...extra
      }
    case "thinking":
      return block.redacted === true
        ? { type: "redacted_thinking", data: "sealed" + block.thinkingSignature }
        : { type: "thinking", thinking: block.thinking, signature: "sig" + block.thinking.length }
    case "toolCall":
      return {
        type: "tool_use",
        id: block.id,
        name: block.name,
        input: objectOf(block.arguments),
        ...extra
      }
    default:
      return {
        type: "document",
        source: { type: "text", media_type: "text/plain", data: "notes" },
        title: "n"
      }
  }
}

const anthropicContent = (message: Message, dice: Dice): unknown =>
  typeof message.content === "string" && dice.once(2)
    ? message.content
    : blocksOf(message).map((block) => anthropicBlock(block, dice))

export const anthropic = (history: ReadonlyArray<Message>, seed: number): Steps => {
  const dice = new Dice(seed)
  let server = 0
  return partsOf(history).map(({ given, answer, results }) => {
    const out: Array<Json> = []
    if (answer !== undefined) {
      const content = blocksOf(answer).map((block) => anthropicBlock(block, dice))
      const id = `srv_${server++}`
      if (dice.once(6))
        content.splice(
          0,
          0,
          { type: "server_tool_use", id, name: "web_search", input: { query: "q" } },
          {
            type: "web_search_tool_result",
            tool_use_id: id,
            content: [{ type: "web_search_result", url: "u", encrypted_content: "e" }]
          }
        )
      if (dice.once(12) && results.length === 0) {
        // A turn that the server paused: what it began ends in the next message.
        out.push({
          role: "assistant",
          content: [{ type: "server_tool_use", id: id + "p", name: "code", input: {} }]
        })
        content.unshift({
          type: "code_execution_tool_result",
          tool_use_id: id + "p",
          content: { type: "r", stdout: "1" }
        })
      }
      out.push({ role: "assistant", content, ...(dice.once(5) ? { id: `msg_${server}` } : {}) })
    }
    const turns = results.map((result): Json => {
      const content = anthropicContent(result, dice)
      const empty = Array.isArray(content) && content.length === 0 && dice.once(2)
      return {
        type: "tool_result",
        tool_use_id: result.toolCallId,
        ...(empty ? {} : { content }),
        ...(result.isError ? { is_error: true } : dice.once(3) ? { is_error: false } : {}),
        ...(dice.once(40) ? cached : {})
      }
    })
    const users = given.filter((message) => message.role === "user")
    const [first] = users
    if (turns.length > 0 && first !== undefined && dice.once(2)) {
      const content = anthropicContent(first, dice)
      const rest =
        typeof content === "string" ? [{ type: "text", text: content }] : (content as Array<Json>)
      out.push({ role: "user", content: [...turns, ...rest] })
      users.shift()
    } else if (turns.length > 0) {
      if (turns.length > 1 && dice.once(5))
        for (const turn of turns) out.push({ role: "user", content: [turn] })
      else
        out.push({
          role: "user",
          content: turns,
          ...(dice.once(4) ? { note: { kept: true } } : {})
        })
    }
    for (const user of users) out.push({ role: "user", content: anthropicContent(user, dice) })
    return out
  })
}

// OpenAI Chat Completions

const chatPart = (block: Block): Json =>
  block.type === "image"
    ? { type: "image_url", image_url: { url: imageUrl(block), detail: "low" } }
    : { type: "text", text: block.type === "text" ? block.text : "[resource]" }

const chatContent = (message: Message, dice: Dice): unknown => {
  const blocks = blocksOf(message)
  return blocks.length === 0 || (blocks.every((b) => b.type === "text") && dice.once(2))
    ? blocks.map((b) => (b as { text: string }).text).join("\n")
    : blocks.map(chatPart)
}

export const chat = (history: ReadonlyArray<Message>, seed: number): Steps => {
  const dice = new Dice(seed)
  return partsOf(history).map(({ given, answer, results }) => {
    const out: Array<Json> = []
    if (answer !== undefined) {
      const blocks = blocksOf(answer)
      const thought = blocks.find((b) => b.type === "thinking")
      const texts = blocks.filter((b) => b.type === "text")
      const calls = blocks.flatMap((b): ReadonlyArray<Json> => {
        if (b.type !== "toolCall") return []
        return dice.once(8)
          ? [
              {
                id: b.id,
                type: "custom",
                custom: { name: b.name, input: JSON.stringify(b.arguments) + " as it is" }
              }
            ]
          : [
              {
                id: b.id,
                type: "function",
                index: 0,
                function: { name: b.name, arguments: JSON.stringify(b.arguments ?? {}) }
              }
            ]
      })
      const text = texts.map((b) => (b as { text: string }).text).join("\n")
      out.push({
        role: "assistant",
        content:
          text === "" ? (dice.once(2) ? null : "") : dice.once(3) ? texts.map(chatPart) : text,
        refusal: null,
        ...(calls.length > 0 ? { tool_calls: calls } : {}),
        ...(thought === undefined || dice.once(2)
          ? {}
          : {
              reasoning_content: (thought as { thinking: string }).thinking,
              reasoning_details: [{ type: "reasoning.encrypted", data: "sealed" }]
            })
      })
    }
    for (const result of results)
      out.push({
        role: "tool",
        tool_call_id: result.toolCallId,
        content: chatContent(result, dice),
        ...(dice.once(3) ? { name: result.toolName } : {})
      })
    for (const message of given)
      out.push({
        role: message.role === "system" && dice.once(2) ? "developer" : message.role,
        content: chatContent(message, dice),
        ...(dice.once(5) ? { name: "someone" } : {})
      })
    return out
  })
}

// OpenAI Responses

const inputPart = (block: Block): Json => {
  if (block.type === "text") return { type: "input_text", text: block.text }
  return block.type === "image"
    ? { type: "input_image", image_url: imageUrl(block), detail: "high" }
    : { type: "input_file", file_id: "file_1" }
}

const inputContent = (message: Message, dice: Dice): unknown =>
  typeof message.content === "string" && dice.once(2)
    ? message.content
    : blocksOf(message).map(inputPart)

export const responses = (history: ReadonlyArray<Message>, seed: number): Steps => {
  const dice = new Dice(seed)
  const ids = dice.once(2)
  let n = 0
  let sealed = 0
  const id = (prefix: string): Json => (ids ? { id: `${prefix}_${n++}` } : {})
  const steps = partsOf(history).map(({ given, answer, results }) => {
    const out: Array<Json> = []
    const kinds = new Map<string, string>()
    if (answer !== undefined) {
      let thought = false
      for (const block of blocksOf(answer)) {
        if (block.type === "thinking") {
          thought = true
          out.push({
            type: "reasoning",
            ...id("rs"),
            summary: block.thinking === "" ? [] : [{ type: "summary_text", text: block.thinking }],
            encrypted_content: `sealed-${sealed++}-${block.thinking.length}`
          })
        } else if (block.type === "text") {
          if (dice.once(7))
            out.push({
              type: "web_search_call",
              ...id("ws"),
              status: "completed",
              action: { type: "search", query: "q" }
            })
          out.push({
            type: "message",
            ...id("msg"),
            role: "assistant",
            status: "completed",
            content: [{ type: "output_text", text: block.text, annotations: [] }]
          })
        } else if (block.type === "toolCall") {
          const kind = ["function", "function", "function", "custom", "computer", "shell"][
            dice.roll(6)
          ]!
          const call_id = block.id
          kinds.set(call_id, kind)
          if (kind === "custom")
            out.push({
              type: "custom_tool_call",
              ...id("ctc"),
              call_id,
              name: block.name,
              input: JSON.stringify(block.arguments)
            })
          else if (kind === "computer")
            out.push({
              type: "computer_call",
              ...id("cu"),
              call_id,
              action: { type: "click", x: 1, y: 2 },
              pending_safety_checks: [],
              status: "completed"
            })
          else if (kind === "shell")
            out.push({
              type: "shell_call",
              ...id("sh"),
              call_id,
              action: { commands: ["ls", "cat " + "x".repeat(dice.roll(4) * 200)] },
              status: "completed"
            })
          else
            out.push({
              type: "function_call",
              ...id("fc"),
              call_id,
              name: block.name,
              arguments: JSON.stringify(block.arguments ?? {}),
              status: "completed"
            })
        }
      }
      if (thought && out.at(-1)?.type === "reasoning")
        out.push({
          type: "message",
          ...id("msg"),
          role: "assistant",
          content: [{ type: "output_text", text: "done", annotations: [] }]
        })
    }
    for (const result of results) {
      const kind = kinds.get(result.toolCallId)
      const call_id = result.toolCallId
      const image = blocksOf(result).find((b) => b.type === "image")
      const text = blocksOf(result)
        .map((b) => (b.type === "text" ? b.text : ""))
        .join("\n")
      if (kind === "computer")
        out.push({
          type: "computer_call_output",
          call_id,
          output: {
            type: "computer_screenshot",
            image_url: image === undefined ? "https://screens.example/1" : imageUrl(image)
          },
          acknowledged_safety_checks: []
        })
      else if (kind === "shell")
        out.push({
          type: "shell_call_output",
          call_id,
          max_output_length: 4000,
          output: [
            { stdout: text, stderr: "", outcome: { type: "exit", exit_code: 0 } },
            { stdout: "", stderr: text, outcome: { type: "timeout" } }
          ]
        })
      else
        out.push({
          type: kind === "custom" ? "custom_tool_call_output" : "function_call_output",
          ...id("out"),
          call_id,
          output: inputContent(result, dice)
        })
    }
    for (const message of given)
      out.push({
        ...(dice.once(2) ? { type: "message" } : {}),
        role: message.role === "system" ? "developer" : message.role,
        content: inputContent(message, dice)
      })
    return out
  })
  // Answers in a row can't be told apart in this shape: they are one.
  return steps.reduce<Array<Array<Json>>>((all, step) => {
    const last = all.at(-1)
    if (last !== undefined && isMade(last.at(-1)) && isMade(step[0])) last.push(...step)
    else all.push(step)
    return all
  }, [])
}

const isMade = (item: Json | undefined): boolean =>
  item !== undefined &&
  (item.role === "assistant" || (item.role === undefined && !String(item.type).endsWith("_output")))

// AI SDK

const sdkImage = (block: Block, dice: Dice): Json => {
  const { data, mimeType } = block as { data: string; mimeType: string }
  const bytes = (): Uint8Array => new Uint8Array(Buffer.from(data, "base64"))
  switch (dice.roll(6)) {
    case 0:
      return { type: "image", image: data }
    case 1:
      return { type: "image", image: imageUrl(block), mediaType: mimeType }
    case 2:
      return { type: "image", image: bytes(), mediaType: mimeType }
    case 3:
      return { type: "file", data, mediaType: mimeType, filename: "a.png" }
    case 4:
      return { type: "file", data: { type: "data", data: bytes() }, mediaType: "image" }
    default:
      return { type: "image", image: new URL("https://images.example/a.png") }
  }
}

const sdkPart = (block: Block, dice: Dice): Json => {
  const hint = dice.once(30)
    ? { providerOptions: { anthropic: { cacheControl: { type: "ephemeral" } } } }
    : {}
  if (block.type === "image") return { ...sdkImage(block, dice), ...hint }
  return { type: "text", text: block.type === "text" ? block.text : "[resource]", ...hint }
}

const sdkOutput = (result: Message & { role: "toolResult" }, dice: Dice): Json => {
  const blocks = blocksOf(result)
  const texts = blocks.map((b) => (b.type === "text" ? b.text : "")).join("\n")
  if (result.isError)
    return dice.once(2)
      ? { type: "error-text", value: texts }
      : { type: "error-json", value: { error: texts } }
  if (blocks.some((b) => b.type === "image") || dice.once(3))
    return {
      type: "content",
      value: blocks.map((b) => {
        if (b.type === "text") return { type: "text", text: b.text }
        if (b.type !== "image") return { type: "file-id", fileId: "f1" }
        const { data, mimeType } = b
        return [
          { type: "media", data, mediaType: mimeType },
          { type: "image-data", data, mediaType: mimeType },
          { type: "image-url", url: imageUrl(b) },
          { type: "file", data: { type: "data", data }, mediaType: mimeType }
        ][dice.roll(4)]!
      })
    }
  return dice.once(2)
    ? { type: "text", value: texts }
    : { type: "json", value: { ok: true, rows: [texts, { n: 1 }] } }
}

export const sdk = (history: ReadonlyArray<Message>, seed: number): Steps => {
  const dice = new Dice(seed)
  const stored = dice.once(2)
  let n = 0
  const bound = (thought: number): Json =>
    stored ? { providerOptions: { openai: { itemId: `it_${thought}_${n++}`, phase: "x" } } } : {}
  return partsOf(history).map(({ given, answer, results }) => {
    const out: Array<Json> = []
    const tool: Array<Json> = []
    if (answer !== undefined) {
      const only = typeof answer.content === "string" && dice.once(2)
      const content = blocksOf(answer).flatMap((block): ReadonlyArray<Json> => {
        if (block.type === "thinking")
          return [
            {
              type: "reasoning",
              text: block.thinking,
              ...(stored
                ? bound(1)
                : { providerOptions: { anthropic: { signature: "sig" + block.thinking.length } } })
            },
            ...(dice.once(9)
              ? [{ type: "reasoning-file", data: "AAAA", mediaType: "image/png" }]
              : [])
          ]
        if (block.type === "toolCall") {
          const call = {
            type: "tool-call",
            toolCallId: block.id,
            toolName: block.name,
            input: objectOf(block.arguments),
            ...bound(0)
          }
          if (!dice.once(5) || !results.some((r) => r.toolCallId === block.id)) return [call]
          const approvalId = `ap_${n++}`
          tool.push({ type: "tool-approval-response", approvalId, approved: true })
          return [call, { type: "tool-approval-request", approvalId, toolCallId: block.id }]
        }
        return [{ type: "text", text: (block as { text: string }).text, ...bound(0) }]
      })
      if (dice.once(6)) {
        const toolCallId = `pe_${n++}`
        content.push(
          {
            type: "tool-call",
            toolCallId,
            toolName: "web_search",
            input: { q: 1 },
            providerExecuted: true,
            ...bound(0)
          },
          {
            type: "tool-result",
            toolCallId,
            toolName: "web_search",
            output: { type: "json", value: [{ url: "u" }] },
            ...bound(0)
          }
        )
      }
      out.push({ role: "assistant", content: only ? answer.content : content })
    }
    if (tool.length > 0 && dice.once(2)) out.push({ role: "tool", content: tool.splice(0) })
    for (const result of results)
      tool.push({
        type: "tool-result",
        toolCallId: result.toolCallId,
        toolName: result.toolName,
        output: sdkOutput(result, dice),
        ...(dice.once(20)
          ? { providerOptions: { anthropic: { cacheControl: { type: "ephemeral" } } } }
          : {})
      })
    if (tool.length > 0) {
      if (dice.once(4)) for (const part of tool) out.push({ role: "tool", content: [part] })
      else out.push({ role: "tool", content: tool })
    }
    for (const message of given)
      out.push(
        message.role === "system"
          ? {
              role: "system",
              content: blocksOf(message)
                .map((b) => (b as { text: string }).text)
                .join("\n")
            }
          : {
              role: "user",
              content:
                typeof message.content === "string" && dice.once(2)
                  ? message.content
                  : blocksOf(message).map((b) => sdkPart(b, dice))
            }
      )
    return out
  })
}
