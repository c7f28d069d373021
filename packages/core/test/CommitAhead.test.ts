import { createMemory, strategy } from "@varve/core"
import { CommitAhead } from "@varve/core/CommitAhead"
import { IsDryRun } from "@varve/core/DryRun"
import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"

const fold = { items: ["none"], saved: 100, call: { input: 10, output: 10 } }

/** What a strategy and a guard of one memory are told, by a commit rule that brings nothing into force. */
const told = async (dryRun: boolean): Promise<ReadonlyArray<unknown>> => {
  const heard: Array<unknown> = []
  const asking = (name: string, guard: boolean) =>
    strategy(
      name,
      () =>
        Effect.gen(function* () {
          const isDue = yield* CommitAhead
          heard.push({ name, due: isDue(fold), dry: yield* IsDryRun })
          return []
        }),
      { guard }
    )
  const memory = createMemory({
    pipeline: [asking("first", false), asking("second", false), asking("guard", true)],
    budget: { tokens: 1 },
    commit: () => ({ cut: null, reason: "never" })
  })
  const history = [{ role: "user", content: "This is over the budget." }]
  await expect(memory.prepare(history, { dryRun })).rejects.toThrow()
  await memory.close()
  return heard
}

describe("asking the commit rule ahead", () => {
  it("every strategy hears the rule's answer; a guard's edits come into force whatever it says", async () => {
    for (const dry of [false, true])
      expect(await told(dry)).toEqual([
        { name: "first", due: false, dry },
        { name: "second", due: false, dry },
        { name: "guard", due: true, dry }
      ])
  })
})
