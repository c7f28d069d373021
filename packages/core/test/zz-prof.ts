import * as fc from "fast-check"
import { cases, runCase } from "./invariantCases.ts"
const list = fc.sample(cases, { numRuns: 600, seed: 1 })
const t = performance.now()
let n = 0
const times: Array<[number, string]> = []
for (const c of list) {
  const t0 = performance.now()
  try {
    n += (await runCase(c)).requests
  } catch {}
  times.push([
    performance.now() - t0,
    c.plans.map((p) => p.name).join() +
      " " +
      c.growth.requests.length +
      " " +
      c.growth.requests.at(-1)?.length
  ])
}
console.log((performance.now() - t) / 600, n)
times.sort((a, b) => b[0] - a[0])
console.log(times.slice(0, 10), times[300])
