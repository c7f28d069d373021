import type { CostPart, CostRow, CostTable } from "./Cost.ts"
import { details, percent, table, usd } from "./Markdown.ts"

const PAYS = "Varve, when it pays"
const MARKED = "Varve, when it pays, with marks"
const KNOWN = "Varve, length known"

const KEPT: Readonly<Record<CostTable["kept"], string>> = {
  images: "newest images",
  results: "newest results",
  calls: "newest calls and results",
  window: "newest messages",
  summary: "summary and newest messages"
}

const rowOf = ({ rows }: CostTable, name: string): CostRow | undefined =>
  rows.find((row) => row.name === name)

/** The cheapest of some rows on a sheet. */
const least = (rows: ReadonlyArray<CostRow>, sheet: number): CostRow | undefined => {
  let best: CostRow | undefined
  for (const row of rows)
    if ((row.costs[sheet] ?? Infinity) < (best?.costs[sheet] ?? Infinity)) best = row
  return best
}

const peersOf = ({ rows }: CostTable): ReadonlyArray<CostRow> =>
  rows.filter((r) => r.who === "peer")

/** Ours against the cheapest of some on each sheet, as shares above it. */
const against = (
  one: CostTable,
  own: string,
  rows: ReadonlyArray<CostRow>
): ReadonlyArray<number | undefined> => {
  const ours = rowOf(one, own)
  return (ours?.costs ?? []).map((cost, i) => {
    const best = least(rows, i)?.costs[i]
    return cost === null || best === undefined || best === null ? undefined : cost / best - 1
  })
}

const shares = (values: ReadonlyArray<number | undefined>): ReadonlyArray<string> =>
  values.map((value) => (value === undefined ? "–" : percent(value)))

/** One goal: what has to hold, the worst figure, and where it is. */
export interface Goal {
  readonly goal: string
  readonly limit: number
  readonly worst: number
  readonly where: string
  readonly misses: number
  readonly of: number
}

interface Figure {
  readonly value: number
  readonly where: string
}

const goalOf = (goal: string, limit: number, figures: ReadonlyArray<Figure>): Goal => {
  const worst = figures.reduce((a, b) => (b.value > a.value ? b : a), {
    value: -Infinity,
    where: ""
  })
  const misses = figures.filter(({ value }) => value > limit + 1e-9).length
  return { goal, limit, worst: worst.value, where: worst.where, misses, of: figures.length }
}

const lengthOf = (one: CostTable): number => Number(/(\d+) steps/.exec(one.input)?.[1])

const figuresOf = (
  part: CostPart,
  tables: ReadonlyArray<CostTable>,
  own: string,
  rows: (one: CostTable) => ReadonlyArray<CostRow>
): ReadonlyArray<Figure> =>
  tables.flatMap((one) =>
    against(one, own, rows(one)).flatMap((value, i) =>
      value === undefined
        ? []
        : [{ value, where: `${one.input}, ${KEPT[one.kept]}, ${part.sheets[i]}` }]
    )
  )

export const goals = (part: CostPart): ReadonlyArray<Goal> => {
  const gui = part.tables.filter(({ input }) => input.startsWith("GUI"))
  const coding = part.tables.filter(({ input }) => input.startsWith("coding"))
  const nothing = (one: CostTable) => one.rows.filter((row) => row.who === "none")
  const bound = (name: string) => (one: CostTable) => one.rows.filter((row) => row.name === name)
  const long = gui.filter((one) => lengthOf(one) >= 100)
  // Newest images are what no peer can keep: they are held against batches of a fixed size.
  const [images, peers] = [
    long.filter((t) => t.kept === "images"),
    long.filter((t) => t.kept !== "images")
  ]
  const short = part.tables.filter((one) => lengthOf(one) === 30)
  const logs = part.logs.map(({ name, costs }) => ({ name, costs }))
  const onLogs = (own: "pays" | "known", marks: "" | "Marks") =>
    logs.flatMap(({ costs, name }) =>
      costs[`${own}${marks}`].flatMap((cost, i) => {
        const other = costs[`immediate${marks}`][i]
        if (cost === null || other === null || other === undefined) return []
        const value = cost / Math.min(costs.nothing[i]!, other) - 1
        return [{ value, where: `${name}, ${part.sheets[i]}${marks === "" ? "" : ", with marks"}` }]
      })
    )
  const totals = (["pays", "paysMarks"] as const).flatMap((own) =>
    part.sheets.flatMap((sheet, i) => {
      const sum = (key: "nothing" | "immediate" | "immediateMarks" | typeof own): number =>
        logs.reduce((s, { costs }) => s + (costs[key][i] ?? Number.NaN), 0)
      const slides = sum(own === "pays" ? "immediate" : "immediateMarks")
      const value = sum(own) / Math.min(sum("nothing"), slides) - 1
      return Number.isNaN(value)
        ? []
        : [{ value, where: own === "pays" ? sheet : `${sheet}, with marks` }]
    })
  )
  return [
    goalOf(
      "at most the best peer's cost, GUI runs of 100 and 300 steps, all that peers can keep, each sheet",
      0,
      figuresOf(part, peers, PAYS, peersOf)
    ),
    goalOf("the same, with marks", 0, figuresOf(part, peers, MARKED, peersOf)),
    goalOf("the same, length known", 0, figuresOf(part, peers, KNOWN, peersOf)),
    goalOf(
      "newest images, at most the cost of the best batch of a fixed size",
      0,
      figuresOf(part, images, PAYS, peersOf)
    ),
    goalOf("the same, with marks", 0, figuresOf(part, images, MARKED, peersOf)),
    goalOf("the same, length known", 0, figuresOf(part, images, KNOWN, peersOf)),
    goalOf(
      "at most the best peer's cost, coding runs of 100 steps, length unknown",
      0,
      figuresOf(
        part,
        coding.filter((t) => lengthOf(t) === 100),
        PAYS,
        peersOf
      )
    ),
    goalOf(
      "at most 2 % above doing nothing, GUI runs of 30 steps, newest images",
      0.02,
      figuresOf(
        part,
        gui.filter((t) => lengthOf(t) === 30 && t.kept === "images"),
        PAYS,
        nothing
      )
    ),
    goalOf(
      "the same, all kinds, coding runs of 30 steps too",
      0.02,
      figuresOf(part, short, PAYS, nothing)
    ),
    goalOf("the same, length known", 0.02, figuresOf(part, short, KNOWN, nothing)),
    goalOf(
      "within 10 % of the offline optimum, length known",
      0.1,
      figuresOf(part, gui, "Varve, length known", bound("offline optimum"))
    ),
    goalOf(
      "the same, with marks",
      0.1,
      figuresOf(part, gui, "Varve, length known, with marks", bound("offline optimum, with marks"))
    ),
    goalOf(
      "at most 2 x the optimum, length unknown",
      1,
      figuresOf(part, gui, PAYS, bound("offline optimum"))
    ),
    goalOf(
      "on each real log and sheet at most 2 % above the cheaper of nothing and immediate",
      0.02,
      [...onLogs("pays", ""), ...onLogs("pays", "Marks")]
    ),
    goalOf("the same, length known", 0.02, [...onLogs("known", ""), ...onLogs("known", "Marks")]),
    goalOf("on all real logs together cheaper than both, each sheet", 0, totals)
  ].filter(({ of }) => of > 0)
}

const full = (part: CostPart, one: CostTable): string =>
  table(
    ["USD", ...part.sheets],
    one.rows
      .filter(({ costs }) => costs.some((cost) => cost !== null))
      .map(({ costs, errors, name, who, acted }) => [
        name +
          (errors > 0
            ? ` (${errors} failed)`
            : who === "peer" && acted === 0 && (one.kept === "window" || one.kept === "summary")
              ? " (not triggered)"
              : ""),
        ...costs.map(usd)
      ])
  )

/** The cost part of the page. */
export const costPage = (part: CostPart): string => {
  const { sheets, tables } = part
  const summary = (own: string): string =>
    table(
      ["run, what is kept", ...sheets],
      tables.map((one) => [
        `${one.input}; ${KEPT[one.kept]}`,
        ...shares(against(one, own, peersOf(one)))
      ])
    )
  const losses = tables.flatMap((one) =>
    against(one, PAYS, peersOf(one)).flatMap((value, i) =>
      value !== undefined && value > 0.0005
        ? [
            `${one.input}, ${KEPT[one.kept]}, ${sheets[i]}: ${percent(value)} (${least(peersOf(one), i)?.name})`
          ]
        : []
    )
  )
  const nothing = tables.flatMap((one) => {
    const none = one.rows.filter((row) => row.who === "none")
    return against(one, PAYS, none).flatMap((value, i) =>
      value !== undefined && value > 0.0005
        ? [`${one.input}, ${KEPT[one.kept]}, ${sheets[i]}: ${percent(value)}`]
        : []
    )
  })
  return [
    "**`when it pays` against the cheapest peer that keeps the same.** Below 0: Varve costs less. Marks are not set.",
    summary(PAYS),
    "**The same with cache marks where `prepare` says**, which the peers don't know. Only where a host can set marks.",
    summary(MARKED),
    "**Where a peer is cheaper than `when it pays`:**\n\n" +
      (losses.length === 0 ? "Nowhere." : losses.map((text) => `- ${text}`).join("\n")),
    "**Where doing nothing is cheaper than `when it pays`:**\n\n" +
      (nothing.length === 0 ? "Nowhere." : nothing.map((text) => `- ${text}`).join("\n")),
    ...tables.map((one) => details(`${one.input}: ${KEPT[one.kept]}`, full(part, one)))
  ].join("\n\n")
}

/** Real sessions, each by itself: the worst sheet, and all sheets summed. */
export const logsPage = ({ logs, sheets }: CostPart): string => {
  const rows = logs.map(({ costs, name, requests }) => {
    let worst = { value: -Infinity, where: "" }
    const sums = { own: 0, best: [0, 0] as [number, number] }
    for (const [own, slides] of [
      ["pays", "immediate"],
      ["paysMarks", "immediateMarks"]
    ] as const)
      costs[own].forEach((cost, i) => {
        const other = costs[slides][i]
        if (cost === null || other === null || other === undefined) return
        const none = costs.nothing[i]!
        const value = cost / Math.min(none, other) - 1
        const where = `${sheets[i]}${own === "pays" ? "" : ", marks"}`
        if (value > worst.value) worst = { value, where }
        sums.own += cost
        sums.best[0] += none
        sums.best[1] += other
      })
    return [
      name,
      String(requests),
      percent(worst.value),
      worst.where,
      percent(sums.own / Math.min(...sums.best) - 1)
    ]
  })
  return table(["real session", "requests", "worst sheet", "which", "all sheets summed"], rows)
}
