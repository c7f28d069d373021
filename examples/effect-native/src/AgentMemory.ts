/** The memory as a service. Its layer takes the model and the store from their layers, and its scope ends the memory. */
import { conversationSummary, hardLimit, Memory, stepMemory } from "@varve/core"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Chat, summarizerOf } from "./Chat.ts"
import { Sessions } from "./Sessions.ts"

export class AgentMemory extends Context.Service<AgentMemory, Memory.Memory>()(
  "varve-examples/AgentMemory"
) {
  /** The memory of one session: `Memory.make` in the scope of this layer. */
  static readonly layer = (session: string) =>
    Layer.effect(
      AgentMemory,
      Effect.gen(function* () {
        const summarizer = summarizerOf(yield* Chat)
        return yield* Memory.make({
          pipeline: [stepMemory(), conversationSummary({ summarizer, soft: 0.9 }), hardLimit()],
          budget: { tokens: 2500 },
          store: yield* Sessions,
          session
        })
      })
    )
}
