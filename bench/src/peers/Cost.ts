import { Pipeline } from "@varve/core"
import type { CommitRule } from "@varve/core/Commit"
import {
  clipResults,
  interval,
  keepImages,
  nothing,
  optimum,
  simulate,
  slide,
  whenItPays,
  type Policy
} from "@varve/simulator"
import { coding, gui, real, type Input } from "./Inputs.ts"
import { keeping, ours, rules, type OurKept } from "./Ours.ts"
import type { Peer } from "./Peer.ts"
import { record, replayed } from "./Replay.ts"
import { sheets, type Sheet } from "./Sheets.ts"
import { slidingWindow } from "./Window.ts"

/** What a way to keep the context small has cost, USD by sheet. `null`: there is no such thing on this sheet. */
export interface CostRow {
  readonly name: string
  readonly who: "none" | "peer" | "ours" | "bound"
  readonly costs: ReadonlyArray<number | null>
  /** Requests that failed. */
  readonly errors: number
  /** Requests, of those that it answered, in which it changed anything. */
  readonly acted: number
}

export interface CostTable {
  readonly input: string
  readonly kept: OurKept
  readonly rows: ReadonlyArray<CostRow>
}

export interface CostPart {
  readonly sheets: ReadonlyArray<string>
  readonly tables: ReadonlyArray<CostTable>
  readonly logs: ReadonlyArray<CostLog>
}

/** A real session by itself, USD by sheet: 3 images and 10 results stay, head and tail of older ones. */
interface CostLog {
  readonly name: string
  readonly requests: number
  readonly costs: Readonly<
    Record<
      "nothing" | "immediate" | "pays" | "known" | "immediateMarks" | "paysMarks" | "knownMarks",
      ReadonlyArray<number | null>
    >
  >
}

type Counted = Pick<CostRow, "costs" | "errors" | "acted">

const costOn = async (input: Input, policy: Policy, { cache, profile }: Sheet): Promise<number> =>
  (await simulate(input.trace, policy, { cache, profile, counter: input.counter })).cost

const onAll = async (
  costOf: (sheet: Sheet) => Promise<number | null>
): Promise<ReadonlyArray<number | null>> => {
  const costs: Array<number | null> = []
  for (const sheet of sheets) costs.push(await costOf(sheet))
  return costs
}

const peerRow = async (peer: Peer, input: Input): Promise<Counted> => {
  const { sent, errors } = await record(peer, input)
  const policy = replayed(peer.name, sent)
  const acted = sent.filter(
    (answer, i) =>
      answer !== undefined &&
      (answer.call !== undefined ||
        answer.messages.length !== input.trace.requests[i]!.history.length)
  ).length
  return {
    costs: await onAll((sheet) => costOn(input, policy, sheet)),
    errors: errors.length,
    acted
  }
}

const row = (name: string, who: CostRow["who"], costs: CostRow["costs"]): CostRow => ({
  name,
  who,
  costs,
  errors: 0,
  acted: 0
})

/** Batches of a fixed size, as a guide of Anthropic's has them, for what no package keeps: the newest images. */
const batches = (input: Input): ReadonlyArray<readonly [string, Policy]> =>
  [25, 40].map((size) => [`batches of ${size}`, interval(input.steps, size)] as const)

/** `isLog`: a real session, for which only what can be had without knowing its end is of interest. */
const oursRows = async (
  kept: OurKept,
  input: Input,
  isLog: boolean
): Promise<ReadonlyArray<CostRow>> => {
  const length = input.trace.requests.length
  const { immediate, known, knownMarks, pays, paysMarks } = rules(length)
  const own = (name: string, rule: CommitRule, marks = false) =>
    onAll(async (sheet) =>
      marks && !sheet.marks ? null : costOn(input, ours(name, kept, input, rule, marks), sheet)
    )
  const best = (marks: boolean) =>
    onAll(async (sheet) => {
      if (marks && !sheet.marks) return null
      const { strategy } = keeping(kept, input)
      return (await optimum(input.trace, strategy, { ...sheet, counter: input.counter, marks }))
        .cost
    })
  const online = [
    row("Varve, immediate", "ours", await own("immediate", immediate)),
    row("Varve, when it pays", "ours", await own("pays", pays)),
    row("Varve, when it pays, with marks", "ours", await own("pays", paysMarks, true))
  ]
  if (isLog) return online
  return [
    ...online,
    row("Varve, length known", "ours", await own("known", known)),
    row("Varve, length known, with marks", "ours", await own("known", knownMarks, true)),
    // What a summary says depends on when it is made: there is no one list of edits to put in order.
    ...(kept === "summary"
      ? []
      : [
          row("offline optimum", "bound", await best(false)),
          row("offline optimum, with marks", "bound", await best(true))
        ])
  ]
}

const logOf = async (input: Input): Promise<CostLog> => {
  const keep = Pipeline.pipeline("3 images, 10 results", keepImages(3), clipResults(10))
  const marked = (policy: Policy) =>
    onAll(async (sheet) => (sheet.marks ? costOn(input, policy, sheet) : null))
  const plain = (policy: Policy) => onAll((sheet) => costOn(input, policy, sheet))
  const requests = input.trace.requests.length
  const known = { expectedRequests: requests }
  return {
    name: input.name,
    requests,
    costs: {
      nothing: await plain(nothing),
      immediate: await plain(slide(keep)),
      pays: await plain(whenItPays(keep)),
      known: await plain(whenItPays(keep, known)),
      immediateMarks: await marked(slide(keep, { marks: true })),
      paysMarks: await marked(whenItPays(keep, { marks: true })),
      knownMarks: await marked(whenItPays(keep, { ...known, marks: true }))
    }
  }
}

const tableOf = async (
  kept: OurKept,
  input: Input,
  peers: ReadonlyArray<Peer>,
  isLog = false
): Promise<CostTable> => {
  const rows: Array<CostRow> = [
    row("nothing", "none", await onAll((sheet) => costOn(input, nothing, sheet)))
  ]
  if (kept === "images")
    for (const [name, policy] of batches(input))
      rows.push(row(name, "peer", await onAll((sheet) => costOn(input, policy, sheet))))
  for (const peer of peers.filter((p) => p.keeps === kept))
    rows.push({ name: peer.name, who: "peer", ...(await peerRow(peer, input)) })
  rows.push(...(await oursRows(kept, input, isLog)))
  return { input: input.name, kept, rows }
}

/** Sums tables of the same rows. */
const total = (name: string, tables: ReadonlyArray<CostTable>): CostTable => {
  const [first] = tables
  const rows = first!.rows.map((one, i) => ({
    ...one,
    costs: one.costs.map((cost, k) =>
      cost === null ? null : tables.reduce((sum, t) => sum + t.rows[i]!.costs[k]!, 0)
    ),
    errors: tables.reduce((sum, t) => sum + t.rows[i]!.errors, 0),
    acted: tables.reduce((sum, t) => sum + t.rows[i]!.acted, 0)
  }))
  return { input: name, kept: first!.kept, rows }
}

/** What everything costs, on every sheet. `quick` leaves most of it out, for work on this page. */
export const cost = async (published: ReadonlyArray<Peer>, quick: boolean): Promise<CostPart> => {
  const peers = [slidingWindow as Peer, ...published]
  const say = (name: string): void => console.error(`cost: ${name}`)
  const tables: Array<CostTable> = []
  const guis = (quick ? [30] : [30, 100, 300]).flatMap((steps) =>
    (quick ? [1560] : [1560, 2691]).map((image) => gui(steps, image))
  )
  const all: ReadonlyArray<readonly [Input, ReadonlyArray<OurKept>]> = [
    ...guis.map((input) => [input, ["images", "results", "window", "summary"]] as const),
    ...(quick ? [30] : [30, 100]).map(
      (steps) => [coding(steps), ["results", "window", "summary"]] as const
    )
  ]
  for (const [input, kinds] of all) {
    say(input.name)
    for (const kept of kinds) tables.push(await tableOf(kept, input, peers))
  }
  const sessions = quick ? real().slice(0, 2) : real()
  const summed: Array<CostTable> = []
  for (const kept of ["results", "calls", "window", "summary"] as const) {
    const each: Array<CostTable> = []
    for (const input of sessions) {
      say(`${input.name}, ${kept}`)
      each.push(await tableOf(kept, input, peers, true))
    }
    if (each.length > 0) summed.push(total(`${each.length} real sessions, summed`, each))
  }
  const logs: Array<CostLog> = []
  for (const input of sessions) {
    say(`${input.name}, alone`)
    logs.push(await logOf(input))
  }
  return { sheets: sheets.map(({ name }) => name), tables: [...tables, ...summed], logs }
}
