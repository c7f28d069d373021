/** An agent loop in Effect: what it needs stands in its type, and every failure too. */
import type { Message } from "@varve/core"
import * as Effect from "effect/Effect"
import { AgentMemory } from "./AgentMemory.ts"
import { Chat } from "./Chat.ts"

const page = (n: number) => `Page ${n}. ${"Paid in full, nothing is open here. ".repeat(15)}`

const resultsOf = ({ content }: Message): ReadonlyArray<Message> =>
  typeof content === "string"
    ? []
    : content.flatMap((block) =>
        block.type === "toolCall"
          ? [
              {
                role: "toolResult" as const,
                toolCallId: block.id,
                toolName: block.name,
                content: page(Number(block.id.slice("call-".length))),
                isError: false
              }
            ]
          : []
      )

/** Works on a task until the model is done. Gives the whole history. */
export const work = Effect.fnUntraced(function* (history: ReadonlyArray<Message>) {
  const memory = yield* AgentMemory
  const chat = yield* Chat
  const all = [...history]
  for (;;) {
    const { messages } = yield* memory.prepare(all)
    const answer = yield* chat.next(messages)
    if (answer === undefined) return all
    const results = resultsOf(answer)
    for (const { toolCallId: id } of results as ReadonlyArray<{ readonly toolCallId: string }>) {
      yield* memory.steps.begin({ id, callId: id, goal: `read what ${id} asks for` })
      yield* memory.steps.finish({ id, callId: id, outcome: "success" })
    }
    all.push(answer, ...results)
  }
})
