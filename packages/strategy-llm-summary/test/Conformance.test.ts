import { conversationSummary, stepMemory } from "@varve/core"
import { conformance } from "@varve/testkit/Conformance"
import { describe, it } from "vitest"
import { modelSummarizer } from "../src/ModelSummarizer.ts"
import { says } from "./models.ts"

/** A model that answers by what it is asked, and one that never answers well. */
const summarizer = () =>
  modelSummarizer({
    complete: ({ prompt }) => Promise.resolve(says(`${prompt.length} characters were summarised.`))
  })
const failing = () =>
  modelSummarizer({ retries: 0, complete: () => Promise.reject(new Error("overloaded")) })
const runner = { describe, it }

// A request that waits for each summary gives the same whenever it is made.
const wait = { soft: 0.4, hard: 0.4 }
conformance(() => conversationSummary({ summarizer: summarizer(), ...wait })).register(runner)
conformance(() => conversationSummary({ summarizer: failing(), ...wait })).register(runner)

// Beside the agent, a summary is there when the model has made it.
const beside = { settled: false }
conformance(() => conversationSummary({ summarizer: summarizer(), soft: 0.4 }), beside).register(
  runner
)
conformance(() => stepMemory({ summarizer: summarizer(), recentTokens: 60 }), beside).register(
  runner
)
