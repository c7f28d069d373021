import { conversationSummary, Edit, hardLimit, strategy } from "@varve/core"
import type { Strategy, View } from "@varve/core"
import { describe, expect, it } from "vitest"
import { conformance } from "../src/Conformance.ts"
import type { Subject } from "../src/Conformance.ts"

const free = (view: View) =>
  view.results.filter((r) => r.rank === 0 && view.protection(r.block) === undefined)

const good = strategy("good", (view) =>
  free(view).map((r) => Edit.replace(r.block, `[${r.toolName} gave ${r.text.length} characters]`))
)

const laws = {
  acts: "edits of it are accepted",
  fails: "fails on no history, whole or broken",
  repeats: "gives the same after restarts, at another time",
  shares: "two memories made from it share nothing",
  outlives: "outlives a summarizer that fails, hangs or talks nonsense"
}

/** What one law says of a strategy; nothing where it holds. */
const complaint = async (subject: Subject, law: string): Promise<string | undefined> => {
  const found = conformance(subject).laws.find((l) => l.name === law)
  return found!.check().then(
    () => undefined,
    (error: unknown) => String(error)
  )
}

const texts = (name: string, text: () => string): Strategy =>
  strategy(name, (view) => free(view).map((r) => Edit.replace(r.block, text())))

describe("conformance", { timeout: 120_000 }, () => {
  conformance(good, { runs: 25 }).register({ describe, it })
  conformance(() => hardLimit(), { runs: 25 }).register({ describe, it })
  conformance(({ summarizer }) => conversationSummary({ summarizer, soft: 0.3 }), {
    runs: 25
  }).register({ describe, it })

  it("finds a text with a time in it", async () => {
    const timed = texts("timed", () => `[cut at ${new Date().getUTCDay()}]`)
    expect(await complaint(timed, laws.repeats)).toContain("two memories give other bytes")
  })

  it("finds a text with a random value in it", async () => {
    const random = texts("random", () => `[cut ${Math.random()}]`)
    expect(await complaint(random, laws.repeats)).toContain("two memories give other bytes")
  })

  it("finds state that memories share", async () => {
    let count = 0
    const counting = texts("counting", () => `[cut ${++count % 97}]`)
    expect(await complaint(counting, laws.shares)).toContain("beside another memory")
  })

  it("finds a strategy that writes to what it is given", async () => {
    const writing = strategy("writing", (view) => {
      for (const m of view.messages) (m as { role: string }).role = "user"
      return []
    })
    expect(await complaint(writing, laws.fails)).toContain("writing: TypeError")
  })

  it("finds a strategy that fails on odd content", async () => {
    const failing = strategy("failing", (view) =>
      view.messages.flatMap((m) =>
        (m.content as string)
          .slice(0, 0)
          .split("")
          .map(() => good as never)
      )
    )
    expect(await complaint(failing, laws.fails)).toContain("failing: TypeError")
  })

  it("finds a strategy that does nothing", async () => {
    const idle = strategy("idle", () => [])
    expect(await complaint(idle, laws.acts)).toContain("None was in 60 sessions")
  })

  it("tries a summarizer that fails only where the strategy takes it", () => {
    const last = laws.outlives
    const lawsOf = (subject: Subject) => conformance(subject).laws.map((l) => l.name)
    expect(lawsOf(good)).not.toContain(last)
    expect(lawsOf(({ summarizer }) => conversationSummary({ summarizer }))).toContain(last)
  })

  it("prints what is wrong and the smallest session that shows it, as code", async () => {
    const timed = texts("timed", () => `[cut at ${new Date().getUTCDay()}]`)
    const error = await complaint(timed, laws.repeats)
    expect(error).toMatch(/^Error: timed does not hold: gives the same/)
    expect(error).toContain("I9 at")
    expect(error).toContain("The smallest case (seed 1):")
    const history = error!.split("\n[\n").at(-1)!.split("\n")
    expect(history.length).toBeLessThan(12)
    expect(error).toContain('{"role":"toolResult"')
  })

  it("check runs all laws and rejects at the first that does not hold", async () => {
    await expect(
      conformance(
        strategy("idle", () => []),
        { runs: 5 }
      ).check()
    ).rejects.toThrow(/idle does not hold: edits of it are accepted/)
  })
})
