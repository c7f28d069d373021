import type { Anchor, FactKind, Registry } from "../Registry.ts"
import { useOf } from "./Remembered.ts"
import { wordsOf } from "./statements.ts"

type Kind = FactKind | Anchor["kind"]

interface Section {
  readonly kind: Kind
  readonly title: string
  /** The share of the tokens that it gets where those before it in `FIRST` leave that much. */
  readonly share: number
}

/**
 * Constraints and decisions stand in one list: which of two holds is for the reader to tell, and all that code
 * knows of it is their order.
 */
const RULES =
  "Constraints of the user, and decisions, oldest first; what was said later may change them"

/** The share of numbers. It is kept for them: where all before them take theirs, nothing would be left of it. */
const NUMBERS = 0.05

/** In the order in which they stand: facts with a line each, then names in one line. */
const SECTIONS: ReadonlyArray<Section> = [
  { kind: "request", title: "Asked before, oldest first", share: 0.1 },
  { kind: "constraint", title: RULES, share: 0.3 },
  { kind: "decision", title: RULES, share: 0.2 },
  { kind: "error", title: "Errors that nothing has cleared since", share: 0.12 },
  { kind: "screen", title: "Screen, as last seen", share: 0.05 },
  { kind: "written", title: "Files written", share: 0.2 },
  { kind: "read", title: "Other files read", share: 0.15 },
  { kind: "path", title: "Other paths", share: 0.26 },
  { kind: "url", title: "URLs", share: 0.03 },
  { kind: "id", title: "Identifiers", share: 0.12 },
  { kind: "number", title: "Numbers", share: NUMBERS }
]

/** Who comes first where not all has room. */
const FIRST: ReadonlyArray<Kind> = [
  "constraint",
  "decision",
  "error",
  "written",
  "read",
  "request",
  "screen",
  "path",
  "id",
  "number",
  "url"
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
  /** Its place among all of its section, the most wanted first. */
  readonly rank: number
  readonly name: string
  readonly text: string
}

const oneLine = (text: string): string =>
  text.toWellFormed().replace(/[\n\r\v\f\u0085\u2028\u2029]+/g, " ")

/** What each section could say, the most wanted first. */
const linesOf = ({ seen, facts, anchors }: Registry): Map<Kind, Array<Line>> => {
  const lines = new Map<Kind, Array<Line>>(SECTIONS.map(({ kind }) => [kind, []]))
  let rank = 0
  const add = (kind: Kind, name: string, text: string): void =>
    void lines.get(kind)!.push({ rank: rank++, name, text })
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

const flat = (text: string): string => text.replace(/\s+/g, " ")

/** Whether nothing of a request is left without what was taken out of it. */
const isStated = (request: string, stated: Iterable<string>): boolean => {
  let rest = flat(request)
  for (const statement of stated) {
    const said = flat(statement)
    rest = rest.replaceAll(said, "\n")
    // A request is cut at its end, amid a statement perhaps.
    const end = rest.slice(rest.lastIndexOf("\n") + 1).trim()
    if (end.length > 1 && end.endsWith("…") && said.startsWith(end.slice(0, -1)))
      rest = rest.slice(0, rest.lastIndexOf("\n") + 1)
  }
  return wordsOf(rest).size < 2
}

export const registryText = (
  registry: Registry,
  { tokens, count, besides = "" }: RegistryTextOptions
): string => {
  const waiting = linesOf(registry)
  const taken = new Map<Kind, Array<Line>>()
  const facts = new Set<string>()
  /** What was said of a request already. */
  const stated = new Set<string>()
  /** The titles that were paid for. */
  const headed = new Set<string>()
  let said = besides
  const isSaid = (kind: Kind, { name }: Line): boolean => {
    // Who reads "Files written" takes it for all of them.
    if (kind === "written") return false
    if (isNames(kind)) return says(said, name)
    // A fact is only said by another fact: what stands beside may turn it round.
    return facts.has(name) || (kind === "request" && isStated(name, stated))
  }
  /** Takes what a section may have; gives the tokens that it cost. */
  const take = ({ kind, title }: Section, most: number): number => {
    const rest: Array<Line> = []
    const mine = taken.get(kind) ?? []
    let used = 0
    for (const line of waiting.get(kind)!) {
      if (isSaid(kind, line)) continue
      const cost = count(line.text) + 1 + (headed.has(title) ? 0 : count(title) + 10)
      if (used + cost > most) rest.push(line)
      else {
        used += cost
        headed.add(title)
        mine.push(line)
        said += "\n" + line.text
        if (!isNames(kind)) facts.add(line.name)
        if (kind === "constraint" || kind === "decision") stated.add(line.name)
      }
    }
    waiting.set(kind, rest)
    taken.set(kind, mine)
    return used
  }
  const sections = FIRST.map((kind) => SECTIONS.find((section) => section.kind === kind)!)
  let room = tokens
  for (const [i, section] of sections.entries()) {
    const kept = sections.slice(i + 1).some(({ kind }) => kind === "number") ? NUMBERS * tokens : 0
    room -= take(section, Math.min(Math.max(0, room - kept), section.share * tokens))
  }
  for (const section of sections) room -= take(section, room)

  /** How many facts and touched files are left out, by title; of other names nobody misses the number. */
  const left = (kind: Kind): number =>
    waiting.get(kind)!.length + ((registry.dropped as Partial<Record<Kind, number>>)?.[kind] ?? 0)
  const titles = new Map<string, ReadonlyArray<Kind>>()
  for (const { kind, title } of SECTIONS) titles.set(title, [...(titles.get(title) ?? []), kind])
  const render = (notes: boolean): string =>
    [...titles]
      .flatMap(([title, kinds]) => {
        const lines = kinds
          .flatMap((kind) => taken.get(kind)!)
          .toSorted((a, b) => a.rank - b.rank)
          .map(({ text }) => text)
        const more = kinds.reduce((sum, kind) => sum + left(kind), 0)
        const [kind] = kinds
        if (lines.length === 0) {
          const isNoted = notes && more > 0 && (!isNames(kind!) || kind === "written")
          return isNoted ? [`${title}: ${more} left out`] : []
        }
        const head = `${title}${more === 0 ? "" : ` (${more} more left out)`}:`
        return isNames(kind!) ? [`${head} ${lines.join(", ")}`] : [head, ...lines.reverse()]
      })
      .join("\n")

  let notes = true
  let text = render(notes)
  // A counter may find more in the whole than in its parts. Notes of what is left out go before facts do.
  for (const kind of FIRST.toReversed()) {
    if (!isNames(kind) && notes && count(text) > tokens) text = render((notes = false))
    while (taken.get(kind)!.length > 0 && count(text) > tokens) {
      waiting.get(kind)!.push(taken.get(kind)!.pop()!)
      text = render(notes)
    }
  }
  return count(text) <= tokens ? text : ""
}
