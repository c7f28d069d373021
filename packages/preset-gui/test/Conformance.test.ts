import { conformance } from "@varve/testkit/Conformance"
import { describe, it } from "vitest"
import { guiAgent } from "../src/GuiAgent.ts"
import { guiClassic } from "../src/GuiClassic.ts"

const runner = { describe, it }

conformance(() => guiAgent({ keep: 1, thumbnails: 0 }).pipeline ?? []).register(runner)
conformance(() => guiClassic().pipeline ?? []).register(runner)
