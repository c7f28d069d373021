import { conformance } from "@varve/testkit/Conformance"
import { describe, it } from "vitest"
import { maskToolResults } from "../src/MaskToolResults.ts"

conformance(() => maskToolResults({ keep: 1, tokens: 12 })).register({ describe, it })
