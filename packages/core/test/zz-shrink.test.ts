import * as fc from "fast-check"
import { it } from "vitest"
import { cases as all, runCase } from "./invariantCases.ts"
const allowed = process.env.TEMPERS?.split(",")
const cases = all.map((c) =>
  allowed
    ? {
        ...c,
        plans: c.plans.map((p: any) =>
          allowed.includes(p.temper)
            ? p
            : { ...p, name: "x" + p.name, temper: allowed[p.seed % allowed.length] }
        )
      }
    : c
)
it("shrink", async () => {
  const pattern = new RegExp(process.env.PATTERN ?? "x")
  const r = await fc.check(
    fc.asyncProperty(cases, async (c) => {
      let vs
      try {
        vs = (await runCase(c)).violations.map((v) => v.rule + " " + v.what)
      } catch (e: any) {
        vs = ["THROW " + String(e)]
      }
      return !vs.some((v) => pattern.test(v))
    }),
    {
      numRuns: Number(process.env.N ?? 3000),
      seed: Number(process.env.SEED ?? 1),
      interruptAfterTimeLimit: 150000
    }
  )
  console.log("runs", r.numRuns, "shrinks", r.numShrinks, r.failed)
  if (r.counterexample) {
    const [c] = r.counterexample
    const { growth, ...rest } = c
    console.log(JSON.stringify(rest))
    const show = (h: any) =>
      JSON.stringify(h, (k, v) => (k === "data" && typeof v === "string" ? v.length + "b" : v))
    for (const h of growth.requests) console.log(growth.kind, h.length, show(h))
    process.env.DEBUG = "1"
    console.log((await runCase(c).catch((e) => e)).violations)
  }
}, 600000)
