import { conformance } from "@varve/testkit/Conformance"
import { describe, it } from "vitest"
import { repeatedResults } from "../src/RepeatedResults.ts"

conformance(repeatedResults({ atLeast: 30 }), { runs: 150 }).register({ describe, it })
