import type { Candidate } from "./candidates.ts"
import { isNegative } from "./words.ts"

/** Lines that share more than this of their terms say the same. */
const SAME = 0.75

/** Results of one kind of run differ in their numbers; the latest counts. */
const shapeOf = ({ line }: Candidate): string => line.replaceAll(/\d+/g, "0")

const shares = (a: ReadonlyMap<string, number>, b: ReadonlyMap<string, number>): boolean => {
  const [few, many] = a.size < b.size ? [a, b] : [b, a]
  if (few.size < SAME * many.size) return false
  let shared = 0
  for (const term of few.keys()) if (many.has(term)) shared++
  return shared > SAME * (few.size + many.size - shared)
}

/** Steps are alike and yet each its own; that something is not so is another thing than that it is. */
const isSame = (a: Candidate, b: Candidate): boolean =>
  a.from === b.from &&
  !a.from.startsWith("step ") &&
  (a.kind === "correction") === (b.kind === "correction") &&
  ((a.kind === "result" && shapeOf(a) === shapeOf(b)) ||
    (shares(a.terms, b.terms) && isNegative(a.line) === isNegative(b.line)))

/** Of lines that say the same, the latest. */
export const latest = (lines: ReadonlyArray<Candidate>): ReadonlyArray<Candidate> => {
  const kept: Array<Candidate> = []
  for (const line of lines.toReversed())
    if (!kept.some((later) => isSame(later, line))) kept.push(line)
  return kept.toReversed()
}

/** Words that two requests may share without being about the same. */
const COMMON = new Set(
  "user should with that this please instead back forget from then when also have will tests test file files what which there here than them they your make sure need just like want into only rather actually back wait keep call".split(
    " "
  )
)

const topicOf = ({ terms }: Candidate): ReadonlyArray<string> =>
  [...terms.keys()].filter(
    (term) =>
      !COMMON.has(term) && (/\d/.test(term) || term.length > 3 || /[^\p{ASCII}]/u.test(term))
  )

/** Two requests that share this much of what they are about are about the same. */
const ABOUT = 0.4

const MAY_BE_CORRECTED: ReadonlySet<string> = new Set(["decision", "asked", "correction"])

/**
 * Which correction puts a line right, by their places: the newest that shares a word with it; where none of
 * what the user said before shares one, the last thing that he said.
 */
export const correctionsOf = (lines: ReadonlyArray<Candidate>): ReadonlyMap<number, number> => {
  const corrects = new Map<number, number>()
  const said: Array<readonly [at: number, topic: ReadonlySet<string>]> = []
  for (const [i, line] of lines.entries()) {
    if (line.from !== "user" || !MAY_BE_CORRECTED.has(line.kind)) continue
    const topic = topicOf(line)
    if (line.kind === "correction") {
      const about = said.filter(([, words]) => {
        const shared = topic.filter((word) => words.has(word)).length
        return shared > 0 && shared >= ABOUT * Math.min(topic.length, words.size)
      })
      for (const [at] of about.length > 0 ? about : said.slice(-1)) corrects.set(at, i)
    }
    said.push([i, new Set(topic)])
  }
  return corrects
}
