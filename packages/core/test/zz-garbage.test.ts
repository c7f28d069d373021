import * as fc from "fast-check"
import { it } from "vitest"
import { garbage } from "@varve/testkit/Garbage"
import { deepFreeze } from "@varve/testkit/Freeze"
import { checkPrepared } from "@varve/testkit/Invariants"
import { createMemory } from "../src/createMemory.ts"
import { hardLimit } from "../src/HardLimit.ts"
import { randomStrategy, strategyPlans } from "@varve/testkit/Strategies"
const show = (h: any) =>
  JSON.stringify(h, (k, v) =>
    k === "data" && typeof v === "string" && v.length > 50
      ? v.length + "b"
      : v === undefined
        ? "UNDEF"
        : typeof v === "bigint"
          ? "big"
          : v
  )
it("garbage", async () => {
  const pattern = new RegExp(process.env.PATTERN ?? ".")
  const tally = new Map<string, number>()
  const run = async (h: any, plans: any) => {
    const m = createMemory({
      pipeline: [plans.map(randomStrategy), hardLimit()],
      budget: { tokens: 400 }
    })
    let out: Array<string> = []
    for (const head of [h.slice(0, Math.ceil(h.length / 2)), h, h.slice(0, -1)]) {
      try {
        const { messages } = await m.prepare<any>(deepFreeze(head))
        out.push(
          ...checkPrepared({ input: head, output: messages }).map((v) => v.rule + " " + v.what)
        )
      } catch (e: any) {
        if (e?._tag !== "ContextOverflow")
          out.push("THROW " + String(e?.stack).split("\n").slice(0, 3).join("|"))
        else {
          const o = await m.transformContext(head)
          out.push(
            ...checkPrepared({ input: head, output: o }).map((v) => v.rule + " any " + v.what)
          )
        }
      }
    }
    return out
  }
  const plans = strategyPlans({ tempers: ["sane", "greedy", "hostile"], most: 2 })
  if (process.env.PATTERN) {
    const r = await fc.check(
      fc.asyncProperty(
        garbage(),
        plans,
        async (h, p) => !(await run(h, p)).some((v) => pattern.test(v))
      ),
      { numRuns: 3000, seed: 1, interruptAfterTimeLimit: 100000 }
    )
    console.log(
      r.failed,
      r.counterexample && show(r.counterexample),
      r.counterexample && (await run(...r.counterexample))
    )
  } else {
    for (const [h, p] of fc.sample(fc.tuple(garbage(), plans), { numRuns: 1500, seed: 2 }))
      for (const v of new Set(
        (await run(h, p)).map((v) => v.replace(/"[^"]*"/g, "ID").replace(/\d+/g, "N"))
      ))
        tally.set(v, (tally.get(v) ?? 0) + 1)
    for (const [k, n] of [...tally].sort((a, b) => b[1] - a[1])) console.log(n, k)
  }
}, 300000)
