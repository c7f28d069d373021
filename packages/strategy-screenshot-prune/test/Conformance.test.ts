import { conformance } from "@varve/testkit/Conformance"
import { describe, it } from "vitest"
import { screenshots } from "../src/Screenshots.ts"

const runner = { describe, it }

conformance(screenshots({ keep: 1 })).register(runner)
conformance(screenshots({ keep: 2, placeholder: "classic", duplicates: false })).register(runner)
// Thumbnails are made beside the agent: one may arrive between two equal requests.
conformance(screenshots({ keep: 1, thumbnails: 2 }), { runs: 15, settled: false }).register(runner)
