/** An agent loop on Anthropic's own client. All that Varve adds are the lines with `memory`. */
import type Anthropic from "@anthropic-ai/sdk"
import { anthropicMessages } from "@varve/codecs"
import type { PlainMemory } from "@varve/core"

const system: Array<Anthropic.TextBlockParam> = [
  {
    type: "text",
    text: "You mend builds. Use the tools.",
    cache_control: { type: "ephemeral" }
  }
]

export interface AgentOptions {
  readonly client: Anthropic
  readonly memory: PlainMemory
  readonly tools: ReadonlyArray<Anthropic.Tool>
  /** Runs a tool; what it throws is told to the model as an error. */
  readonly run: (name: string, input: unknown) => string
}

/** Works on a task until the model is done. Gives the whole history. */
export const work = async (task: string, { client, memory, run, tools }: AgentOptions) => {
  const history: Array<Anthropic.MessageParam> = [{ role: "user", content: task }]
  const options = { system, tools, marks: true } as const

  const ask = (messages: Array<Anthropic.MessageParam>) =>
    client.messages.create({
      model: "claude-opus-5-5",
      max_tokens: 4000,
      system,
      tools: [...tools],
      messages
    })

  const answer = async () => {
    const { messages } = await anthropicMessages.prepare(memory, history, options)
    try {
      return await ask(messages)
    } catch (error) {
      // Refused as too long: one smaller request. Any other error is the caller's.
      const smaller = await anthropicMessages.recover(memory, error, history, options)
      if (smaller === undefined) throw error
      return await ask(smaller.messages)
    }
  }

  for (;;) {
    const { content, stop_reason, usage } = await answer()
    memory.usage({
      input: usage.input_tokens,
      cacheRead: usage.cache_read_input_tokens ?? 0,
      cacheWrite: usage.cache_creation_input_tokens ?? 0,
      output: usage.output_tokens
    })
    history.push({ role: "assistant", content: content as Array<Anthropic.ContentBlockParam> })
    if (stop_reason !== "tool_use") return history
    const results = content.flatMap((block) =>
      block.type === "tool_use" ? [resultOf(block, run)] : []
    )
    history.push({ role: "user", content: results })
  }
}

const resultOf = (
  { id, input, name }: Anthropic.ToolUseBlock,
  run: AgentOptions["run"]
): Anthropic.ToolResultBlockParam => {
  try {
    return { type: "tool_result", tool_use_id: id, content: run(name, input) }
  } catch (error) {
    return { type: "tool_result", tool_use_id: id, content: String(error), is_error: true }
  }
}
