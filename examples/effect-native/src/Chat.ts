/** A model as a service. The agent talks to it, and so does the summarizer. */
import type { Message } from "@varve/core"
import { SummaryError } from "@varve/core"
import type { Summarizer } from "@varve/core"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"

export class ChatError extends Schema.TaggedError<ChatError>()("ChatError", {
  message: Schema.String
}) {}

export class Chat extends Context.Service<
  Chat,
  {
    /** What the model answers; nothing where it is done. */
    readonly next: (messages: ReadonlyArray<Message>) => Effect.Effect<Message | undefined>
    readonly summarise: (text: string) => Effect.Effect<string, ChatError>
  }
>()("varve-examples/Chat") {
  /**
   * A model with a script: it reads `pages` pages, one after the other. `summary` goes before each summary, as
   * one that takes long would.
   */
  static readonly scripted = (
    pages: number,
    {
      onRequest = () => {},
      summary = Effect.void
    }: {
      readonly onRequest?: (messages: ReadonlyArray<Message>) => void
      readonly summary?: Effect.Effect<void, ChatError>
    } = {}
  ) =>
    Layer.sync(Chat, () => {
      let page = 0
      return Chat.of({
        next: (messages) =>
          Effect.sync(() => {
            onRequest(messages)
            if (page === pages) return undefined
            page++
            const call = { id: `call-${page}`, name: "read", arguments: { page } }
            return { role: "assistant", content: [{ type: "toolCall" as const, ...call }] }
          }),
        summarise: (text) =>
          Effect.as(
            summary,
            `Read up to ${text.match(/Page \d+/g)?.at(-1) ?? "nothing"}: all paid.`
          )
      })
    })
}

/** The service as a summarizer for Varve's strategies. */
export const summarizerOf =
  ({ summarise }: Chat["Service"]): Summarizer =>
  ({ material, previous = "" }) =>
    summarise([previous, ...material.map(({ from, text }) => `${from}: ${text}`)].join("\n")).pipe(
      Effect.map((text) => ({ text, stopReason: "stop", model: "chat" })),
      Effect.mapError(({ message }) => new SummaryError("failed", message))
    )
