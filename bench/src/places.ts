/**
 * What the step memory costs by its place: USD of a whole run under each rule of a provider's cache. `messages` changes
 * with other edits only, `tail` with every step, `system` is a host that puts `memory.compose()` into its system text.
 *
 * `node --conditions=@varve/source src/places.ts`
 */
import { createMemory, hardLimit, stepMemory } from "@varve/core"
import { Commit } from "@varve/core"
import type { Message } from "@varve/core/Message"
import { blocksOf, textOf } from "@varve/core/Message"
import { profile } from "@varve/profiles"
import type { Policy } from "@varve/simulator"
import {
  cacheKindOf,
  codingRun,
  guiRun,
  keepImages,
  nothing,
  simulate,
  syntheticCounter,
  whenItPays
} from "@varve/simulator"

type Place = "messages" | "tail" | "compose"

/** Records what a trace did since the last request. */
const record = (memory: ReturnType<typeof createMemory>, messages: ReadonlyArray<Message>) => {
  for (const message of messages) {
    if (message.role === "assistant") {
      for (const block of blocksOf(message)) {
        if (block.type !== "toolCall") continue
        const goal = textOf(message).slice(0, 120)
        memory.steps.begin({ id: block.id, callId: block.id, tool: block.name, goal })
      }
    } else if (message.role === "toolResult") {
      const { toolCallId: callId } = message
      memory.steps.finish({ id: callId, callId, outcome: "success" })
    }
  }
}

const policy = (place: Place, keep: number | undefined, marks: boolean): Policy => ({
  name: place,
  start: (given) => {
    const memory = createMemory({
      ...given,
      pipeline: [
        keep === undefined ? undefined : keepImages(keep),
        stepMemory({ place }),
        hardLimit()
      ],
      commit: Commit.whenItPays({ marks })
    })
    let seen = 0
    return {
      prepare: async (history) => {
        record(memory, history.slice(seen))
        seen = history.length
        const { messages, report, marks: proposed } = await memory.prepare(history)
        const text = place === "compose" ? memory.compose() : ""
        return {
          messages,
          reasoningLost: report.reasoning.lost,
          tail: report.tail?.at,
          ...(marks ? { marks: proposed } : {}),
          ...(text === "" ? {} : { system: { text, tokens: Math.ceil(text.length / 4) } })
        }
      },
      close: () => memory.close()
    }
  }
})

const runs = [
  { trace: guiRun({ steps: 100 }), keep: undefined },
  { trace: guiRun({ steps: 100 }), keep: 3 },
  { trace: codingRun({ steps: 40 }), keep: undefined }
]

const rows: Array<Record<string, string>> = []
for (const model of ["claude-opus-4.8", "gpt-5.6-sol", "gpt-4.1"]) {
  // Windows and reasoning aside: what is compared is the place alone.
  const facts = {
    ...profile(model),
    contextWindow: 100_000_000,
    limits: {},
    reasoning: "none" as const
  }
  for (const { keep, trace } of runs) {
    const cost = async (one: Policy): Promise<string> => {
      const options = {
        cache: cacheKindOf(facts),
        profile: facts,
        counter: syntheticCounter(1560)
      }
      return (await simulate(trace, one, options)).cost.toFixed(2)
    }
    const isMarked = facts.cache.kind === "marks"
    rows.push({
      cache: cacheKindOf(facts),
      model,
      run: trace.name + (keep === undefined ? "" : `, ${keep} images kept`),
      "no memory": await cost(keep === undefined ? nothing : whenItPays(keep, { marks: isMarked })),
      messages: await cost(policy("messages", keep, isMarked)),
      tail: await cost(policy("tail", keep, isMarked)),
      "tail, marks not set": isMarked ? await cost(policy("tail", keep, false)) : "–",
      system: await cost(policy("compose", keep, isMarked))
    })
  }
}
console.table(rows)
