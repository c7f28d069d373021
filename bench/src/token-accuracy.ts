// How far token counts are from what providers reported, over all real sessions with usage: the whole context at
// the next request (anchored at the last usage), and single increments of 200 tokens and more (not anchored).
import { requireData } from "@varve-examples/session-readers/Data"
import { sessions } from "@varve-examples/session-readers/Sessions"
import * as Effect from "effect/Effect"
import { countersOf, estimators, replay } from "./Accuracy.ts"

const mean = (values: ReadonlyArray<number>) => values.reduce((a, b) => a + b, 0) / values.length
const quantile = (values: ReadonlyArray<number>, share: number) =>
  [...values].sort((a, b) => a - b)[Math.floor(share * values.length)] ?? Number.NaN
const percent = (share: number, digits: number) => Number((100 * share).toFixed(digits))

if (requireData("the benchmark of token counts")) {
  const anchoredRows: Array<Record<string, string | number>> = []
  const incrementRows: Array<Record<string, string | number>> = []
  const program = Effect.gen(function* () {
    for (const entry of sessions()) {
      // Midscene sends no conversation: what its reader builds is more than what its requests held.
      if (entry.path.includes("midscene")) continue
      const session = entry.read()
      const counters = yield* countersOf(session)
      const anchoredRow: Record<string, string | number> = { session: entry.name }
      const incrementRow: Record<string, string | number> = { session: entry.name }
      for (const [name, estimator] of Object.entries(estimators)) {
        const { anchored, increments, ratio } = replay(session, counters, estimator)
        if (anchored.length < 2) break
        anchoredRow.requests = anchored.length
        anchoredRow[`${name} %`] = percent(mean(anchored), 4)
        if (estimator.learns) {
          anchoredRow["max %"] = percent(Math.max(...anchored), 2)
          anchoredRow.ratio = Number(ratio?.toFixed(2))
        }
        if (increments.length === 0) continue
        incrementRow.increments = increments.length
        const cells = [quantile(increments, 0.5), mean(increments), quantile(increments, 0.95)]
        incrementRow[`${name} %`] = cells.map((cell) => percent(cell, 1)).join(" / ")
      }
      if (anchoredRow.requests !== undefined) anchoredRows.push(anchoredRow)
      if (incrementRow.increments !== undefined) incrementRows.push(incrementRow)
    }
  })
  await Effect.runPromise(Effect.scoped(program))
  console.log("Whole context at the next request, anchored at the last usage: mean error")
  console.table(anchoredRows)
  console.log(
    "Increments of 200 tokens and more, after 2 000 tokens, not anchored: error (median / mean / 95 %)"
  )
  console.table(incrementRows)
}
