import * as fc from "fast-check"
import { expect, it } from "vitest"
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
it("explore", async () => {
  const n = Number(process.env.N ?? 500)
  const t0 = performance.now()
  const list = fc.sample(cases, { numRuns: n, seed: Number(process.env.SEED ?? 1) })
  const t1 = performance.now()
  const tally = new Map<string, { n: number; size: number; ex: any }>()
  let commit = 0,
    req = 0,
    over = 0,
    guarded = 0
  for (const c of list) {
    let o
    try {
      o = await runCase(c)
    } catch (e: any) {
      o = {
        violations: [
          {
            rule: "THROW",
            at: -1,
            what: String(e?.stack ?? e)
              .split("\n")
              .slice(0, 4)
              .join("|")
          }
        ],
        requests: 0,
        commits: 0,
        overflows: 0,
        guarded: 0
      }
    }
    if (o.commits > 0) commit++
    req += o.requests
    over += o.overflows
    guarded += o.guarded > 0 ? 1 : 0
    for (const v of new Map(
      o.violations.map((v: any) => [
        v.rule +
          " " +
          v.what
            .replace(/\{.*/, "")
            .replace(/"[^"]*"/g, "ID")
            .replace(/\d+/g, "N"),
        v
      ])
    ).entries()) {
      const size = JSON.stringify(c.growth.requests.at(-1) ?? []).length + c.plans.length * 3000
      const e = tally.get(v[0])
      if (!e)
        tally.set(v[0], {
          n: 1,
          size,
          ex: {
            plans: c.plans.map((p: any) => p.name).join(),
            commit: c.commit,
            kind: c.growth.kind,
            v: v[1],
            reasoning: c.reasoning
          }
        })
      else {
        e.n++
        if (size < e.size) {
          e.size = size
          e.ex = {
            plans: c.plans.map((p: any) => p.name).join(),
            commit: c.commit,
            kind: c.growth.kind,
            v: v[1],
            reasoning: c.reasoning
          }
        }
      }
    }
  }
  console.log({ gen: t1 - t0, run: performance.now() - t1, n, commit, req, over, guarded })
  for (const [k, e] of [...tally].sort((a, b) => b[1].n - a[1].n))
    console.log(e.n, k, "\n     ", JSON.stringify(e.ex))
}, 600000)
