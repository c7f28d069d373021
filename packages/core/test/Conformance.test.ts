import { conformance } from "@varve/testkit/Conformance"
import { describe, it } from "vitest"
import { conversationSummary } from "../src/ConversationSummary.ts"
import { hardLimit } from "../src/HardLimit.ts"
import { lift } from "../src/Lift.ts"
import { stepMemory } from "../src/StepMemory.ts"

const runner = { describe, it }

conformance(() => hardLimit()).register(runner)
conformance(({ summarizer }) => stepMemory({ summarizer, recentTokens: 60 })).register(runner)
conformance(() => stepMemory()).register(runner)
conformance(({ summarizer }) => conversationSummary({ summarizer, soft: 0.4 })).register(runner)
conformance(() => conversationSummary({ soft: 0.3 })).register(runner)
conformance(lift("newest-five", (messages) => messages.slice(-5))).register(runner)
