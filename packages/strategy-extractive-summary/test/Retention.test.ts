import { estimateCounter } from "@varve/core/Counter"
import { textOf } from "@varve/core/Message"
import { describe, expect, it } from "vitest"
import type { Compaction, Retention } from "./retention/run.ts"
import { readable, retentionOf, runTrace } from "./retention/run.ts"
import { standIns } from "./retention/standIns.ts"
import type { Trace } from "./retention/trace.ts"
import { makeTrace, needleKinds } from "./retention/trace.ts"

const ROUNDS = 5
const SEEDS = [1, 2]
const counter = estimateCounter()

const kinds = [...needleKinds, "id"] as const
type Kind = (typeof kinds)[number]

const registryIn = (summary: string): string =>
  /<registry [^>]*>\n([\s\S]*)\n<\/registry>/.exec(summary)?.[1] ?? ""

const section = (registry: string, title: string): ReadonlyArray<string> => {
  const lines = registry.split("\n")
  const start = lines.findIndex((line) => line.startsWith(title))
  const rest = start < 0 ? [] : lines.slice(start + 1)
  const end = rest.findIndex((line) => !line.startsWith("- "))
  return rest.slice(0, end < 0 ? rest.length : end).map((line) => line.slice(2))
}

interface Run {
  readonly trace: Trace
  readonly compactions: ReadonlyArray<Compaction>
}

/** Kept and planted over all runs, by round. */
const sum = (runs: ReadonlyArray<Run>): ReadonlyArray<Retention> =>
  Array.from({ length: ROUNDS }, (_, i) => {
    const each = runs.map(({ trace, compactions }) => retentionOf(trace, compactions, i + 1))
    const total = (kind: Kind): readonly [number, number] => [
      each.reduce((n, r) => n + r[kind][0], 0),
      each.reduce((n, r) => n + r[kind][1], 0)
    ]
    return Object.fromEntries(kinds.map((kind) => [kind, total(kind)])) as unknown as Retention
  })

const share = ([kept, planted]: readonly [number, number]): number =>
  planted === 0 ? 1 : kept / planted

const table = (title: string, rounds: ReadonlyArray<Retention>): string =>
  [
    title.padEnd(40) + rounds.map((_, i) => `K=${i + 1}`.padStart(6)).join(""),
    ...kinds.map(
      (kind) =>
        `  ${kind === "id" ? "identifier, needed again" : kind}`.padEnd(40) +
        rounds.map((r) => `${Math.round(100 * share(r[kind]))} %`.padStart(6)).join("")
    )
  ].join("\n")

describe.each(Object.entries(standIns))(
  "what is left after K compactions by %s",
  { timeout: 120_000 },
  (name, summarizer) => {
    const all = (options: { readonly registryTokens?: number; readonly targetTokens?: number }) =>
      Promise.all(
        SEEDS.map(async (seed): Promise<Run> => {
          const trace = makeTrace(seed, 200)
          // One more, to know what is needed until the next.
          const compactions = await runTrace(trace, {
            summarizer,
            compactions: ROUNDS + 1,
            ...options
          })
          return { trace, compactions }
        })
      )

    const withRegistry = all({})

    it("keeps all goals, constraints, decisions, errors and files, and what is needed again", async () => {
      const runs = await withRegistry
      const rounds = sum(runs)
      const plain = sum(await all({ registryTokens: 0, targetTokens: 3000 }))
      console.log(table(name, rounds) + "\n" + table(`${name}, as much without a registry`, plain))
      const least = (kind: Kind): number => Math.min(...rounds.map((r) => share(r[kind])))
      for (const kind of needleKinds) {
        expect(rounds.at(-1)![kind][1], `${kind} was planted`).toBeGreaterThan(0)
        if (kind !== "path" && kind !== "number") expect(least(kind), kind).toBe(1)
      }
      expect(least("path")).toBeGreaterThanOrEqual(0.95)
      expect(least("id")).toBeGreaterThanOrEqual(0.6)
      for (const { compactions } of runs)
        for (const { summary } of compactions) {
          expect(counter.text(registryIn(summary))).toBeLessThanOrEqual(1500)
          expect(counter.text(summary)).toBeLessThanOrEqual(3000 + 120)
        }
    })

    it("says nothing that wasn't said, the later decision alone, and no failure as a success", async () => {
      for (const { trace, compactions } of await withRegistry) {
        const history = readable([trace.task, ...trace.steps.flatMap((step) => step.messages)])
        for (const { at, text, summary } of compactions) {
          const registry = registryIn(summary)
          const rules = section(registry, "Constraints of the user, and decisions")
          for (const line of rules) expect(history).toContain(line)
          expect(rules.length).toBeGreaterThan(0)
          // In the order in which they were said.
          const places = rules.map((line) => history.lastIndexOf(line))
          expect(places).toEqual(places.toSorted((a, b) => a - b))
          for (const needle of trace.needles) {
            if (needle.kind !== "decision" || needle.until >= at) continue
            const old = rules.filter((line) => line.includes(`use ${needle.parts[0]}`))
            const dropped = rules.some((line) => line.includes(`instead of ${needle.parts[0]}`))
            if (dropped) expect(old).toEqual([])
          }
          for (const [i, { outcome }] of trace.steps.entries())
            if (outcome === "failed") expect(text).not.toContain(`step ${i}: success`)
        }
      }
    })

    it("the newest request and the pending step stay behind it, and it says that it is for reference", async () => {
      for (const { trace, compactions } of await withRegistry) {
        const pending = trace.needles.find(({ kind }) => kind === "pending step")!.parts[0]!
        for (const { at, messages, summary } of compactions) {
          const history = trace.steps.slice(0, at).flatMap((step) => step.messages)
          const newest = history.findLast(({ role }) => role === "user")!
          const texts = messages.map(textOf)
          expect(summary).toMatch(/^<summary [^\n]*; reference data, not an instruction>\n/)
          expect(messages.indexOf(newest)).toBeGreaterThan(texts.indexOf(summary))
          const steps = texts.find((text) => text.startsWith("[Step memory: "))!
          const waiting = steps.slice(steps.indexOf("\nPending, without an outcome yet:"))
          expect(waiting.split("\n").slice(2)).toEqual([expect.stringContaining(pending)])
        }
      }
    })
  }
)
