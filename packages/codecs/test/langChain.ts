// LangChain's messages, made of the testkit's histories as its integrations make them; and what each of
// them would send, by the integration's own converter.
import { convertPromptToAnthropic } from "@langchain/anthropic"
import {
  AIMessage,
  AIMessageChunk,
  coerceMessageLikeToMessage,
  HumanMessage,
  SystemMessage,
  ToolMessage
} from "@langchain/core/messages"
import type { BaseMessage, BaseMessageLike } from "@langchain/core/messages"
import { ChatPromptValue } from "@langchain/core/prompt_values"
import {
  convertMessagesToCompletionsMessageParams,
  convertMessagesToResponsesInput
} from "@langchain/openai"
import { blocksOf } from "@varve/core/Message"
import type { Block, Message } from "@varve/core/Message"
import { Dice, imageUrl, objectOf, partsOf } from "./make.ts"
import type { Steps } from "./make.ts"
import { anthropicFaults, chatFaults, responsesFaults } from "./rules.ts"

type Json = Record<string, any>

const styles = ["anthropic", "chat", "responses", "standard"] as const
type Style = (typeof styles)[number]

/** Only Anthropic's integration takes all forms in every place. */
const image = (block: Block, dice: Dice, style: Style): Json => {
  const { data, mimeType } = block as { data: string; mimeType: string }
  const most = style === "anthropic" || style === "standard" ? 4 : 1
  return [
    { type: "image_url", image_url: { url: imageUrl(block) } },
    { type: "image_url", image_url: imageUrl(block) },
    { type: "image", mimeType, data, metadata: { detail: "low" } },
    { type: "image", url: imageUrl(block) }
  ][dice.roll(most)]!
}

const part = (block: Block, dice: Dice, style: Style): Json => {
  const hint = dice.once(40) ? { cache_control: { type: "ephemeral" } } : {}
  if (block.type === "image") return { ...image(block, dice, style), ...hint }
  return { type: "text", text: block.type === "text" ? block.text : "[resource]", ...hint }
}

const content = (message: Message, dice: Dice, style: Style): any => {
  const blocks = blocksOf(message)
  return blocks.length === 0 || (blocks.every((b) => b.type === "text") && dice.once(2))
    ? blocks.map((b) => (b as { text: string }).text).join("\n")
    : blocks.map((b) => part(b, dice, style))
}

const answerOf = (
  answer: Message,
  style: Style,
  dice: Dice,
  n: number,
  done: boolean
): BaseMessage => {
  const blocks = blocksOf(answer)
  const calls = blocks.flatMap((b) =>
    b.type === "toolCall"
      ? [{ type: "tool_call" as const, id: b.id, name: b.name, args: objectOf(b.arguments) }]
      : []
  )
  const raw = calls.map(({ args, id, name }) => ({
    id,
    type: "function" as const,
    function: { name, arguments: JSON.stringify(args) }
  }))
  const text = blocks.flatMap((b) => (b.type === "text" ? [b.text] : [])).join("\n")
  const thought = blocks.find((b) => b.type === "thinking") as { thinking: string } | undefined
  const fields: any = {
    id: style === "responses" ? `msg_${n}` : `run-${n}`,
    tool_calls: calls,
    usage_metadata: { input_tokens: 7, output_tokens: 3, total_tokens: 10 },
    response_metadata: { style }
  }
  if (style === "anthropic") {
    const parts = blocks.map((block): Json => {
      if (block.type === "thinking")
        return block.redacted === true
          ? { type: "redacted_thinking", data: "sealed" + block.thinkingSignature }
          : { type: "thinking", thinking: block.thinking, signature: "sig" + n, index: 0 }
      if (block.type !== "toolCall") return part(block, dice, style)
      const { id, name } = block
      return { type: "tool_use", id, name, input: dice.once(3) ? "" : objectOf(block.arguments) }
    })
    const string = parts.every((p) => p.type === "text" || p.type === "tool_use") && dice.once(3)
    const given: any = { ...fields, content: string ? text : parts }
    return dice.once(4) ? new AIMessageChunk(given) : new AIMessage(given)
  }
  if (style === "standard") {
    const parts = blocks.map((block): Json => {
      if (block.type === "thinking") return { type: "reasoning", reasoning: block.thinking }
      if (block.type !== "toolCall") return part(block, dice, style)
      return { type: "tool_call", id: block.id, name: block.name, args: objectOf(block.arguments) }
    })
    const response_metadata = { style, output_version: "v1" as const }
    return new AIMessage({ ...fields, content: parts as any, response_metadata })
  }
  if (style === "chat") {
    // Some answers have a call that LangChain could not read: its host gave it a result all the same.
    const [last] = calls.slice(-1)
    const isOdd = done && last !== undefined && dice.once(4)
    const invalid = isOdd
      ? [
          {
            type: "invalid_tool_call" as const,
            id: last.id,
            name: last.name,
            args: "{",
            error: "no"
          }
        ]
      : []
    const made = new AIMessage({
      ...fields,
      content: text,
      tool_calls: isOdd ? [] : calls,
      invalid_tool_calls: invalid,
      additional_kwargs: thought === undefined ? {} : { reasoning_content: thought.thinking }
    })
    // Its constructor warns of calls that stand here alone.
    if (calls.length > 0 && (isOdd || dice.once(2))) made.additional_kwargs.tool_calls = raw
    return made
  }
  const reasoning = {
    type: "reasoning",
    id: `rs_${n}`,
    summary: [{ type: "summary_text", text: thought?.thinking }]
  }
  const output = [
    ...(thought === undefined ? [] : [reasoning]),
    ...(text === ""
      ? []
      : [
          {
            type: "message",
            id: `msg_${n}`,
            role: "assistant",
            content: [{ type: "output_text", text, annotations: [] }]
          }
        ]),
    ...calls.map(({ args, id, name }) => ({
      type: "function_call",
      id: `fc_${n}_${id}`,
      call_id: id,
      name,
      arguments: JSON.stringify(args)
    }))
  ]
  return new AIMessage({
    ...fields,
    content: text === "" ? "" : [{ type: "text", text, annotations: [] }],
    response_metadata: { style, model_provider: "openai", ...(dice.once(2) ? { output } : {}) },
    additional_kwargs: {
      ...(thought === undefined ? {} : { reasoning }),
      ...(calls.length === 0
        ? {}
        : {
            __openai_function_call_ids__: Object.fromEntries(
              calls.map(({ id }) => [id, `fc_${n}_${id}`])
            )
          })
    }
  })
}

export const langChainMessages = (history: ReadonlyArray<Message>, seed: number): Steps => {
  const dice = new Dice(seed)
  const style = styles[dice.roll(4)]!
  let n = 0
  return partsOf(history).map(({ given, answer, results }) => {
    const response_metadata = { style }
    const out: Array<any> = []
    const calls = answer === undefined ? [] : blocksOf(answer).filter((b) => b.type === "toolCall")
    if (answer !== undefined)
      out.push(answerOf(answer, style, dice, n++, calls.length === results.length))
    for (const result of results)
      out.push(
        new ToolMessage({
          content: content(result, dice, style),
          tool_call_id: result.toolCallId,
          name: result.toolName,
          artifact: { kept: { whole: true } },
          response_metadata,
          status: result.isError ? "error" : "success",
          ...(dice.once(2) ? { id: `tool-${n++}` } : {})
        })
      )
    for (const message of given) {
      const fields = {
        content: content(message, dice, style),
        response_metadata,
        id: `given-${n++}`
      }
      out.push(message.role === "system" ? new SystemMessage(fields) : new HumanMessage(fields))
    }
    return out
  })
}

/** The messages as a model of LangChain takes them. */
const taken = (messages: ReadonlyArray<Json>): Array<BaseMessage> =>
  messages.map((given) => {
    const message = coerceMessageLikeToMessage(given as BaseMessageLike)
    const { data } = message.toDict()
    if (JSON.stringify(data.content) !== JSON.stringify(message.content))
      throw new Error("a message that would be saved with other content")
    return message
  })

/** The faults of what the integration would send for these messages. */
export const langChainFaults = (
  messages: ReadonlyArray<Json>,
  before: ReadonlyArray<Json>
): ReadonlyArray<string> => {
  const style = before.find((m) => m.response_metadata?.style)?.response_metadata.style as Style
  const list = taken(messages)
  if (style === "chat")
    return chatFaults(convertMessagesToCompletionsMessageParams({ messages: list }))
  if (style === "responses") {
    const items = (request: Array<BaseMessage>): ReadonlyArray<Json> =>
      convertMessagesToResponsesInput({ messages: request, zdrEnabled: false, model: "gpt-4" })
    return responsesFaults(items(list), items(before as unknown as Array<BaseMessage>)).filter(
      (fault) => !fault.startsWith("a part input_image of an output")
    )
  }
  const { messages: sent } = convertPromptToAnthropic(new ChatPromptValue(list))
  const first = (sent as ReadonlyArray<Json>).findIndex(({ role }) => role !== "system")
  return anthropicFaults(
    (sent as ReadonlyArray<Json>).slice(first).filter(({ role }) => role !== "system")
  ).filter((fault) => style === "anthropic" || fault !== "thinking without a signature")
}
