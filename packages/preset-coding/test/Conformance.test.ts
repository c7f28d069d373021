import { conformance } from "@varve/testkit/Conformance"
import { describe, it } from "vitest"
import { codingAgent } from "../src/CodingAgent.ts"

conformance(({ summarizer }) => codingAgent({ keep: 1, summarizer }).pipeline ?? []).register({
  describe,
  it
})
