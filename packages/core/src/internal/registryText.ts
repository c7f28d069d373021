import type { Anchor, FactKind, Registry } from "../Registry.ts"
import { useOf } from "./Remembered.ts"

type Kind = FactKind | Anchor["kind"]

interface Section {
  readonly kind: Kind
  readonly title: string
  /** The share of the tokens that it gets where those before it in `FIRST` leave that much. */
  readonly share: number
}

/** In the order in which they stand: facts with a line each, then names in one line. */
const SECTIONS: ReadonlyArray<Section> = [
  { kind: "request", title: "Asked before, oldest first", share: 0.1 },
  { kind: "constraint", title: "Constraints that the user gave", share: 0.3 },
  { kind: "decision", title: "Decisions, oldest first; the later one holds", share: 0.2 },
  { kind: "error", title: "Errors that nothing has cleared since", share: 0.12 },
  { kind: "screen", title: "Screen, as last seen", share: 0.05 },
  { kind: "written", title: "Files written", share: 0.12 },
  { kind: "read", title: "Files read", share: 0.1 },
  { kind: "path", title: "Other paths", share: 0.3 },
  { kind: "url", title: "URLs", share: 0.03 },
  { kind: "id", title: "Identifiers", share: 0.12 },
  { kind: "number", title: "Numbers", share: 0.05 }
]

/** Who comes first where not all has room. */
const FIRST: ReadonlyArray<Kind> = [
  "constraint",
  "decision",
  "error",
  "written",
  "read",
  "screen",
  "path",
  "id",
  "number",
  "url",
  "request"
]

/** What `renderRegistry` needs. */
export interface RegistryTextOptions {
  /** Tokens at most. */
  readonly tokens: number
  readonly count: (text: string) => number
  /** A text that stands beside it: names in it are not said again. */
  readonly besides?: string
}

interface Line {
  /** Its place among those of its kind, the most wanted first. */
  readonly rank: number
  readonly name: string
  readonly text: string
}

const oneLine = (text: string): string =>
  text.toWellFormed().replace(/[\n\r\v\f\u0085\u2028\u2029]+/g, " ")

/** What each section could say, the most wanted first. */
const linesOf = ({ seen, facts, anchors }: Registry): Map<Kind, Array<Line>> => {
  const lines = new Map<Kind, Array<Line>>(SECTIONS.map(({ kind }) => [kind, []]))
  const add = (kind: Kind, name: string, text: string): void => {
    const of = lines.get(kind)!
    of.push({ rank: of.length, name, text })
  }
  for (const { kind, key, text } of facts.toReversed()) {
    const name = oneLine(text)
    add(kind, name, kind === "screen" ? `- ${oneLine(key)}: ${name}` : `- ${name}`)
  }
  for (const { kind, text, label } of anchors.toSorted((a, b) => useOf(b, seen) - useOf(a, seen))) {
    const name = oneLine(text)
    const shown = name.includes(",") ? JSON.stringify(name) : name
    add(kind, name, label === undefined ? shown : `${oneLine(label)} ${shown}`)
  }
  return lines
}

const isInWord = (unit: string | undefined): boolean =>
  unit !== undefined && /[\p{L}\p{N}_-]/u.test(unit)

/** Whether a text names something, and not only as part of a longer word. */
const says = (text: string, name: string): boolean => {
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + 1)) {
    if (!isInWord(text[at - 1]) && !isInWord(text[at + name.length])) return true
    if (name === "") break
  }
  return false
}

const isNames = (kind: Kind): boolean => SECTIONS.findIndex((s) => s.kind === kind) > 4

export const registryText = (
  registry: Registry,
  { tokens, count, besides = "" }: RegistryTextOptions
): string => {
  const waiting = linesOf(registry)
  const taken = new Map<Kind, Array<Line>>()
  let facts = ""
  let said = besides
  /** What was said of a request already. */
  const stated = (): ReadonlyArray<string> =>
    (["constraint", "decision"] as const).flatMap((kind) => taken.get(kind)!.map((l) => l.name))
  /** Takes what a section may have; gives the tokens that it cost. */
  const take = ({ kind, title }: Section, most: number): number => {
    const rest: Array<Line> = []
    const mine = taken.get(kind) ?? []
    let used = 0
    for (const line of waiting.get(kind)!) {
      // A fact is only said by another fact: what stands beside may turn it round.
      if (isNames(kind) ? says(said, line.name) : facts.includes(line.name)) continue
      if (kind === "request" && stated().some((fact) => line.name.includes(fact))) continue
      const cost = count(line.text) + 1 + (mine.length === 0 ? count(title) + 10 : 0)
      if (used + cost > most) rest.push(line)
      else {
        used += cost
        mine.push(line)
        said += "\n" + line.text
        if (!isNames(kind)) facts += "\n" + line.text
      }
    }
    waiting.set(kind, rest)
    taken.set(kind, mine)
    return used
  }
  const sections = FIRST.map((kind) => SECTIONS.find((section) => section.kind === kind)!)
  let room = tokens
  for (const section of sections) room -= take(section, Math.min(room, section.share * tokens))
  for (const section of sections) room -= take(section, room)

  const render = (): string =>
    SECTIONS.flatMap(({ kind, title }) => {
      const lines = taken
        .get(kind)!
        .toSorted((a, b) => a.rank - b.rank)
        .map(({ text }) => text)
      if (lines.length === 0) return []
      const more = waiting.get(kind)!.length
      const head = `${title}${more === 0 ? "" : ` (${more} more left out)`}:`
      return isNames(kind) ? [`${head} ${lines.join(", ")}`] : [head, ...lines.reverse()]
    }).join("\n")
  let text = render()
  // A counter may find more in the whole than in its parts.
  for (const kind of FIRST.toReversed()) {
    while (taken.get(kind)!.length > 0 && count(text) > tokens) {
      waiting.get(kind)!.push(taken.get(kind)!.pop()!)
      text = render()
    }
  }
  return text
}
