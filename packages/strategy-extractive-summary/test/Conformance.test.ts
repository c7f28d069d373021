import { conversationSummary, stepMemory } from "@varve/core"
import { conformance } from "@varve/testkit/Conformance"
import { describe, it } from "vitest"
import { extractiveSummarizer } from "../src/ExtractiveSummarizer.ts"

const summarizer = extractiveSummarizer()
const runner = { describe, it }

conformance(() => conversationSummary({ summarizer, soft: 0.4 })).register(runner)
conformance(() => stepMemory({ summarizer, recentTokens: 60 })).register(runner)
