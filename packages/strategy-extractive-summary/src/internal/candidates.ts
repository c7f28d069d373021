import type { Material, SummaryRequest } from "@varve/core/Summarizer"
import { statementKind } from "@varve/core/Statement"
import { isBare, isCorrection } from "./corrections.ts"
import type { LineKind } from "./kinds.ts"
import { WEIGHT } from "./kinds.ts"
import type { Sentence } from "./sentences.ts"
import { goesOn } from "./blocks.ts"
import { BREAK, sentencesIn } from "./sentences.ts"
import type { Shape } from "./shapes.ts"
import { isFragment, isMachine, shapesOf } from "./shapes.ts"
import { CALL, callLine, counted, countedIn, isChange, stepKey } from "./steps.ts"
import { termsOf } from "./terms.ts"

/** A line that may stand in the summary. */
export interface Candidate {
  readonly line: string
  readonly kind: LineKind
  /** True for a line of the summary so far. */
  readonly before: boolean
  /** Its place among all lines. */
  readonly at: number
  /** Whose it is; empty for a line that doesn't say so. */
  readonly from: string
  readonly terms: ReadonlyMap<string, number>
}

/** UTF-16 units of the material that are read, of one piece of it, and of one by a tool. */
const ALL = 400_000
const PIECE = 8000
const TOOL_PIECE = 2000

/** A piece is read at its ends at least this far, however many there are. */
const LEAST = 300

/** Lines that are ranked; the work grows with their square. */
const MOST = 400

/** A line that says whose it is: one of ours, of an earlier round. */
const OWN = /^(user|assistant|tool \S{1,80}(?: \(error\))?|step .{1,40}?): /

/** What came of a run, as tools print it: "3 failed, 12 passed". */
const RESULT =
  /\b\d+ (?:tests? )?(?:passed|failed|passing|failing|errors?)\b|\bexit(?:ed)?\b.{0,20}\bcode \d|\b[1-9]\d* problems?\b/i

/** What is about to be done says nothing of what was: in English alone, the rest counts as said. */
const PLAN =
  /^(?:(?:ok(?:ay)?|now|next|first|then|so|good|great|right|sure)[,.!]? )*(?:let me|let's (?:see|look|check)|i(?:['’]ll| will| am going to|['’]m going to)|i (?:now )?(?:look|check|read|open|run)\b)/i

/** A file, or a number. */
const NAMES = /\d|(?:^|[\s"'`(])(?:[\w@.+~-]*\/)*[\w@+-][\w@.+-]*\.[a-z]\w{0,4}\b/i

const stepKind = (text: string): LineKind =>
  text.startsWith("failed") ? "failed" : isChange(stepKey(text)) ? "changed" : "looked"

const kindOf = ({ text, shape }: Sentence, from: string): LineKind => {
  if (from.startsWith("step ")) return stepKind(text)
  if (text.startsWith(CALL)) {
    if (isChange(text.split(" with ", 1)[0]!)) return "called"
    return / with \S+\]/.test(text) ? "did" : "little"
  }
  const people = from === "user" || from === "assistant"
  const kind = statementKind(text, from)
  if (!people) {
    if (shape !== "table" && RESULT.test(text)) return "result"
    if (shape !== "code" && kind === "error") return kind
    if (isFragment(text)) return "noise"
  }
  if (shape === "code" || shape === "log" || shape === "table") return "noise"
  if (/[:：][^\p{L}\p{N}]*$/u.test(text) || termsOf(text).size < 2) return "little"
  if (from === "user" && isCorrection(text)) return "correction"
  const isPlan = from === "assistant" && PLAN.test(text)
  if (kind !== undefined && !(isPlan && kind === "outcome")) return kind
  if (from === "user") return "asked"
  if (!people) return "seen"
  return isPlan || isFragment(text) ? "little" : NAMES.test(text) ? "named" : "said"
}

const spaced = (text: string): string => text.replaceAll(/\s+/g, " ").trim()

const says = /[\p{L}\p{N}]/u

type Line = Pick<Candidate, "line" | "kind" | "from">

/** Sentences with whose they are; a bare "no." goes with what is said instead. */
function* linesOfText(text: string, units: number, from: string, label: string): Generator<Line> {
  const people = from === "user" || from === "assistant"
  const machine = !people && isMachine(shapesOf(text.slice(0, units).split(BREAK), false))
  let bare = ""
  for (const sentence of sentencesIn(text, units, people)) {
    const said = bare + sentence.text
    bare = from === "user" && isBare(said) ? said + " " : ""
    const kind = kindOf({ ...sentence, text: said }, from)
    if (bare === "")
      yield { line: label + said, kind: machine && kind === "seen" ? "noise" : kind, from }
  }
}

function* linesBefore(previous: string, kept: ReadonlySet<string>): Generator<Line> {
  let other: Array<string> = []
  let own = ""
  const rest = (): Generator<Line> => {
    const text = other.join("\n")
    other = []
    return linesOfText(text, ALL, "assistant", "")
  }
  const whole = (): ReadonlyArray<Line> => {
    const from = OWN.exec(own)?.[1]
    if (from === undefined) return []
    const text = own.slice(from.length + 2)
    const shape: Shape = shapesOf([text], from === "user" || from === "assistant")[0]!
    return [{ line: own, kind: kindOf({ text, shape }, from), from }]
  }
  for (const given of previous.slice(-ALL).split(BREAK)) {
    const line = kept.has(spaced(given)) ? "" : given
    if (OWN.test(line)) {
      yield* rest()
      yield* whole()
      own = line.trim()
    } else if (own !== "" && other.length === 0 && line.trim() !== "" && goesOn(own, line, false))
      // Another maker's line that was wrapped.
      own += own.length < PIECE ? " " + line.trim() : ""
    else {
      yield* whole()
      own = ""
      other.push(line)
    }
  }
  yield* whole()
  yield* rest()
}

function* linesOf(material: ReadonlyArray<Material>): Generator<Line> {
  const each = Math.max(LEAST, Math.floor(ALL / Math.max(1, material.length)))
  for (const { from, text } of material) {
    if (from.startsWith("step ")) {
      const said = text.slice(0, PIECE).replaceAll(/\s+/g, " ").trim().toWellFormed()
      yield { line: `${from}: ${said}`, kind: stepKind(said), from }
      continue
    }
    const units = Math.min(each, from.startsWith("tool ") ? TOOL_PIECE : PIECE)
    const calls = text.includes(CALL) ? text.split(BREAK).filter((l) => l.startsWith(CALL)) : []
    const said =
      calls.length === 0
        ? text
        : text
            .split(BREAK)
            .filter((line) => !line.startsWith(CALL))
            .join("\n")
    yield* linesOfText(said, units, from, `${from}: `)
    for (const call of calls) {
      const line = callLine(call)
      if (line !== undefined)
        yield { line: `${from}: ${line}`, kind: kindOf({ text: line, shape: "prose" }, from), from }
    }
  }
}

/** What makes a line the same as another one, whatever its number is. */
const keyOf = ({ line, from }: Line): string => {
  const said = line.slice(from === "" || !OWN.test(line) ? 0 : from.length + 2)
  if (from.startsWith("step ")) return "step " + stepKey(said)
  return said.startsWith(CALL) ? countedIn(line)[0] : line
}

/**
 * The lines that a summary may be made of, oldest first; without those that must stand in it anyway. Of equals
 * the latest is there, for steps and calls with how often they came.
 */
export const candidatesOf = ({
  previous = "",
  material,
  keep
}: SummaryRequest): ReadonlyArray<Candidate> => {
  const kept = new Set([...keep, ...keep.flatMap((text) => text.split(BREAK))].map(spaced))
  const found = new Map<string, Omit<Candidate, "terms"> & { readonly times: number }>()
  let at = 0
  const add = (lines: Iterable<Line>, before: boolean): void => {
    for (const given of lines) {
      const said = spaced(given.line.replace(OWN, ""))
      if (!says.test(said) || kept.has(said) || kept.has(spaced(given.line))) continue
      const isCounted = given.from.startsWith("step ") || said.startsWith(CALL)
      const [line, times] = isCounted && before ? countedIn(given.line) : [given.line, 1]
      const key = keyOf({ ...given, line })
      const known = found.get(key)
      found.delete(key)
      const all = isCounted ? times + (known?.times ?? 0) : 1
      found.set(key, { ...given, line, before, at: at++, times: all })
    }
  }
  add(linesBefore(previous, kept), true)
  add(linesOf(material), false)
  const lines = [...found.values()].map(({ times, ...line }) => ({
    ...line,
    line: counted(line.line, times)
  }))
  // What was chosen before and what is new have half of the places each.
  const most = (before: boolean): ReadonlyArray<Omit<Candidate, "terms">> =>
    lines
      .filter((line) => line.before === before)
      .toSorted((a, b) => WEIGHT[b.kind] - WEIGHT[a.kind] || b.at - a.at)
      .slice(0, MOST / 2)
      .toSorted((a, b) => a.at - b.at)
  return [...most(true), ...most(false)].map((line) => ({ ...line, terms: termsOf(line.line) }))
}
