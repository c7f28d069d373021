import type { Material, SummaryRequest } from "@varve/core/Summarizer"
import { sentencesOf, statementKind } from "@varve/core/Statement"
import type { StatementKind } from "@varve/core/Statement"
import { termsOf } from "./terms.ts"

/**
 * What a line is: a statement of a kind, else what the user asked, the agent said or did, or a tool gave;
 * `little` says nothing by itself: "go on", "Let me look:".
 */
export type LineKind = StatementKind | "asked" | "said" | "did" | "seen" | "little"

/** A line that may stand in the summary. */
export interface Candidate {
  readonly line: string
  readonly kind: LineKind
  /** True for a line of the summary so far. */
  readonly before: boolean
  /** Its place among all lines. */
  readonly at: number
  readonly terms: ReadonlyMap<string, number>
}

/** How much a line counts by its kind, before anything else is known of it. */
export const WEIGHT: Readonly<Record<LineKind, number>> = {
  constraint: 4,
  decision: 4,
  asked: 3,
  error: 3,
  outcome: 2.5,
  said: 1,
  did: 0.5,
  seen: 0.4,
  little: 0.1
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

/** Calls as they stand in material, and how much is shown of one, in UTF-16 units. */
const CALL = "[call of "
const CALL_SHOWN = 160

const kindOf = (sentence: string, from: string): LineKind => {
  if (sentence.startsWith(CALL)) return "did"
  if (/[:：][^\p{L}\p{N}]*$/u.test(sentence) || termsOf(sentence).size < 2) return "little"
  if (from.startsWith("step ")) return sentence.startsWith("failed") ? "error" : "outcome"
  const kind = statementKind(sentence, from)
  if (kind !== undefined) return kind
  return from === "user" ? "asked" : from === "assistant" ? "said" : "seen"
}

/** Head and tail of a long text: where a message says what it is about, and what came of it. */
const endsOf = (text: string, units: number): string =>
  text.length <= units
    ? text
    : (text.slice(0, units / 2) + "\n" + text.slice(-units / 2)).toWellFormed()

const BREAK = /\r\n|[\n\r\v\f\u0085\u2028\u2029]/

const says = /[\p{L}\p{N}]/u

function* linesBefore(previous: string): Generator<readonly [string, LineKind]> {
  for (const line of endsOf(previous, ALL).split(BREAK)) {
    const from = OWN.exec(line)?.[1]
    if (from !== undefined) {
      yield [line.trim(), kindOf(line.slice(from.length + 2), from)]
      continue
    }
    for (const sentence of sentencesOf(line)) yield [sentence, kindOf(sentence, "assistant")]
  }
}

function* linesOf(material: ReadonlyArray<Material>): Generator<readonly [string, LineKind]> {
  const each = Math.max(LEAST, Math.floor(ALL / Math.max(1, material.length)))
  for (const { from, text } of material) {
    const units = Math.min(each, from.startsWith("tool ") ? TOOL_PIECE : PIECE)
    const lines = text.split(BREAK)
    const said = lines.filter((line) => !line.startsWith(CALL)).join("\n")
    for (const sentence of sentencesOf(endsOf(said, units)))
      yield [`${from}: ${sentence}`, kindOf(sentence, from)]
    for (const line of lines)
      if (line.startsWith(CALL))
        yield [`${from}: ${line.slice(0, CALL_SHOWN).toWellFormed()}`, "did"]
  }
}

/** The lines that a summary may be made of, oldest first; without those that must stand in it anyway. */
export const candidatesOf = ({
  previous = "",
  material,
  keep
}: SummaryRequest): ReadonlyArray<Candidate> => {
  const kept = new Set(keep)
  const seen = new Set<string>()
  const found: Array<Omit<Candidate, "terms">> = []
  const add = (lines: Iterable<readonly [string, LineKind]>, before: boolean): void => {
    for (const [line, kind] of lines) {
      const said = line.replace(OWN, "")
      if (!says.test(said) || seen.has(line) || kept.has(said) || kept.has(line)) continue
      seen.add(line)
      found.push({ line, kind, before, at: found.length })
    }
  }
  add(linesBefore(previous), true)
  add(linesOf(material), false)
  // What was chosen before and what is new have half of the places each.
  const most = (before: boolean): ReadonlyArray<Omit<Candidate, "terms">> =>
    found
      .filter((line) => line.before === before)
      .toSorted((a, b) => WEIGHT[b.kind] - WEIGHT[a.kind] || b.at - a.at)
      .slice(0, MOST / 2)
      .toSorted((a, b) => a.at - b.at)
  return [...most(true), ...most(false)].map((line) => ({ ...line, terms: termsOf(line.line) }))
}
