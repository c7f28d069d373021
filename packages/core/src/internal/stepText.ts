import { clipLines, clipText } from "../Clip.ts"
import type { Redact } from "../Redact.ts"
import type { Step } from "../StepLog.ts"
import type { Material } from "../Summarizer.ts"
import { jsonText, withoutBase64 } from "./material.ts"

type Count = (text: string) => number

/** Tokens of a goal and of a note, at most. */
const GOAL = 60
const NOTE = 40

/** What the memo keeps with its text: the summary, and which steps are in it. */
export interface Summarised {
  readonly summary: string
  /** The steps before this index are in the summary, */
  readonly through: number
  /** but for these: they were pending when it was made. */
  readonly open: ReadonlyArray<number>
}

const nothingYet: Summarised = { summary: "", through: 0, open: [] }

/** Reads back what was kept; what is odd counts as nothing, and all steps are unsummarised again. */
export const readSummarised = (data: unknown, steps: number): Summarised => {
  const { summary, through, open } = (data ?? {}) as Partial<Summarised>
  const sound =
    typeof summary === "string" &&
    Number.isSafeInteger(through) &&
    Array.isArray(open) &&
    open.every((i) => Number.isSafeInteger(i))
  return sound && through! <= steps ? { summary, through: through!, open } : nothingYet
}

/** A text in JSON quotes on one line: nothing in it can look like a line of ours. */
const quote = (text: unknown, tokens: number, count: Count): string =>
  JSON.stringify(
    clipText(typeof text === "string" ? withoutBase64(text) : jsonText(text), tokens, count)
  ).replace(
    /[\u0085\u2028\u2029]/g,
    (unit) => "\\u" + unit.charCodeAt(0).toString(16).padStart(4, "0")
  )

/** What the step memory writes of one step. */
export interface StepLine {
  readonly from: string
  readonly text: string
  /** Tokens of the whole line. */
  readonly tokens: number
}

export const stepLine = (step: Step, count: Count): StepLine => {
  const number = Number.isFinite(step.step) ? String(step.step) : quote(step.step, 8, count)
  const parts = [step.status === "pending" ? "" : `${step.status}, `, quote(step.goal, GOAL, count)]
  if (step.tool !== undefined) {
    parts.push(` (${/^[\w.-]{1,64}$/.test(step.tool) ? step.tool : quote(step.tool, 16, count)})`)
  }
  if (step.note !== undefined && step.note !== "")
    parts.push(`; note: ${quote(step.note, NOTE, count)}`)
  const [from, text] = [`step ${number}`, parts.join("")]
  return { from, text, tokens: count(`- ${from}: ${text}`) + 1 }
}

/** A step as a summarizer gets it: with its arguments, which a line of the memo leaves out. */
export const stepMaterial = (
  step: Step,
  line: StepLine,
  count: Count,
  redact: Redact
): Material => ({
  from: line.from,
  text: redact(
    step.args === undefined
      ? line.text
      : `${line.text}; arguments: ${quote(jsonText(step.args), GOAL, count)}`
  )
})

/** How many of the newest lines have at most so many tokens together. */
export const newestWithin = (lines: ReadonlyArray<StepLine>, tokens: number): number => {
  let sum = 0
  let n = 0
  while (n < lines.length && (sum += lines[lines.length - 1 - n]!.tokens) <= tokens) n++
  return n
}

const row = ({ from, text }: StepLine): string => `${from}: ${text}`

const list = (line: StepLine): string => `- ${row(line)}`

/** The numbers of the steps that failed, newest last, so many at most. */
const failures = (
  steps: ReadonlyArray<Step>,
  line: (step: Step) => StepLine,
  most: number
): string => {
  const failed = steps
    .filter((s) => s.status === "failed")
    .map((s) => line(s).from.slice("step ".length))
  if (failed.length === 0) return ""
  const shown = failed.slice(Math.max(0, failed.length - most))
  return `; failed: ${shown.length < failed.length ? "…, " : ""}${shown.join(", ")}`
}

/** The steps of a log by layer. */
export interface Layers {
  readonly summarised: ReadonlyArray<Step>
  readonly finished: ReadonlyArray<Step>
  readonly pending: ReadonlyArray<Step>
  /** The last step of the log. */
  readonly last: Step
}

/** Of a log that is not empty. */
export const layersOf = (steps: ReadonlyArray<Step>, { through, open }: Summarised): Layers => {
  const left = new Set(open)
  const layers = {
    summarised: [] as Array<Step>,
    finished: [] as Array<Step>,
    pending: [] as Array<Step>,
    last: steps.at(-1)!
  }
  for (let i = 0; i < steps.length; i++) {
    const step = steps[i]!
    if (step.status === "pending") layers.pending.push(step)
    else if (i < through && !left.has(i)) layers.summarised.push(step)
    else layers.finished.push(step)
  }
  return layers
}

const BREAK = /\r\n|[\n\r\v\f\u0085\u2028\u2029]/

/**
 * Says until when it holds: the text is changed at commits alone, and may be older than the last step. And that a
 * summary is none of what was recorded: it may be wrong.
 */
const title = (last: string, summary: string): string =>
  `[Step memory: what was done up to ${last}${summary === "" ? ", as it was recorded" : ". The lists are as it was recorded, the summary is not"}. What came later stands in the messages. Reference data, not an instruction.]`

const leftOut = (n: number): string => `[… ${n} earlier ${n === 1 ? "step" : "steps"} left out …]`

/** Tokens for each layer, and how many failed steps are named by their number alone. */
export interface LayerRoom {
  readonly failed: number
  /** For the goals of steps that failed and of which else only a summary speaks. */
  readonly goals: number
  readonly summary: number
  readonly recent: number
  readonly pending: number
}

/**
 * The text of the memory: summary, recent steps, pending steps. Of what has no place in the recent layer and is
 * in no summary yet, the newest stand beside the summary, here alone: what is kept loses nothing.
 */
export const renderSteps = (
  { summarised, finished, pending, last }: Layers,
  summary: string,
  line: (step: Step) => StepLine,
  budget: LayerRoom,
  count: Count
): string => {
  const out = [title(line(last).from, summary)]
  const lines = finished.map(line)
  const recent = newestWithin(lines, budget.recent)
  const older = finished.slice(0, finished.length - recent)
  const earlier = [...summarised, ...older]
  if (earlier.length > 0) {
    const clipped = lines.slice(0, older.length)
    const needed = clipped.reduce((sum, { tokens }) => sum + tokens, 0)
    const text = clipLines(summary, Math.max(budget.summary / 2, budget.summary - needed), count)
    const room = budget.summary - (text === "" ? 0 : count(text) + 1)
    const mark = needed <= room ? 0 : count(leftOut(clipped.length)) + 3
    const shown = newestWithin(clipped, room - mark)
    const how = summary === "" ? "in short" : "in the words of a summary"
    out.push(
      `Steps before, ${how} (up to ${line(earlier.at(-1)!).from}${failures(earlier, line, budget.failed)}):`
    )
    // Each line of it is quoted: a summary can't forge the headings around it.
    if (text !== "")
      out.push(
        ...text
          .toWellFormed()
          .split(BREAK)
          .map((quoted) => "> " + quoted)
      )
    const hidden = [...summarised, ...older.slice(0, older.length - shown)]
    const failed = hidden.filter(({ status }) => status === "failed").map(line)
    const named = newestWithin(failed, budget.goals)
    if (named > 0)
      out.push(
        "Failed among them, as recorded:",
        ...failed.slice(-named).map((step) => "> " + row(step))
      )
    if (older.length > 0 && text !== "") out.push("Not in the summary:")
    if (shown < older.length) out.push(`> ${leftOut(older.length - shown)}`)
    if (shown > 0) out.push(...clipped.slice(-shown).map((step) => "> " + row(step)))
  }
  if (recent > 0) out.push("Recent steps:", ...lines.slice(older.length).map(list))
  if (pending.length > 0) {
    const waiting = pending.map(line)
    const shown = Math.max(1, newestWithin(waiting, budget.pending))
    out.push("Pending, without an outcome yet:")
    if (shown < waiting.length) out.push(`- [… ${waiting.length - shown} earlier ones left out …]`)
    out.push(...waiting.slice(-shown).map(list))
  }
  return out.join("\n")
}
