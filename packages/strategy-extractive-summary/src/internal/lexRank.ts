/** The chance with which a walk over the sentences goes on to a similar one. */
const DAMPING = 0.85

/** Sentences less alike than this are taken for unlike. */
const ALIKE = 0.1

const ROUNDS = 30

interface Link {
  readonly to: number
  readonly weight: number
}

/** Vectors of unit length: each term weighs its count, the more the rarer it is (tf-idf). */
const vectorsOf = (
  sentences: ReadonlyArray<ReadonlyMap<string, number>>
): ReadonlyArray<ReadonlyMap<string, number>> => {
  const frequency = new Map<string, number>()
  for (const terms of sentences)
    for (const term of terms.keys()) frequency.set(term, (frequency.get(term) ?? 0) + 1)
  return sentences.map((terms) => {
    const vector = new Map<string, number>()
    let sum = 0
    for (const [term, n] of terms) {
      const weight = n * Math.log(1 + sentences.length / frequency.get(term)!)
      vector.set(term, weight)
      sum += weight * weight
    }
    const length = Math.sqrt(sum)
    for (const [term, weight] of vector) vector.set(term, weight / length)
    return vector
  })
}

/** What each sentence is alike, by the cosine of their vectors. */
const linksOf = (
  vectors: ReadonlyArray<ReadonlyMap<string, number>>
): ReadonlyArray<ReadonlyArray<Link>> => {
  const byTerm = new Map<string, Array<readonly [at: number, weight: number]>>()
  const links: Array<Array<Link>> = vectors.map(() => [])
  for (const [at, vector] of vectors.entries()) {
    const alike = new Map<number, number>()
    for (const [term, weight] of vector) {
      const others = byTerm.get(term)
      if (others === undefined) byTerm.set(term, [[at, weight]])
      else {
        for (const [other, w] of others) alike.set(other, (alike.get(other) ?? 0) + w * weight)
        others.push([at, weight])
      }
    }
    for (const [other, weight] of alike) {
      if (weight < ALIKE) continue
      links[at]!.push({ to: other, weight })
      links[other]!.push({ to: at, weight })
    }
  }
  return links
}

/**
 * How central each sentence is among all, from 0 to 1: LexRank with weighted links (G. Erkan, D. R. Radev,
 * "LexRank: Graph-based Lexical Centrality as Salience in Text Summarization", JAIR 22, 2004). A sentence is
 * central where central sentences say alike. Quadratic in the sentences; the caller bounds them.
 */
export const lexRank = (
  sentences: ReadonlyArray<ReadonlyMap<string, number>>
): ReadonlyArray<number> => {
  const n = sentences.length
  const links = linksOf(vectorsOf(sentences))
  const out = links.map((list) => list.reduce((sum, { weight }) => sum + weight, 0))
  let rank = Array.from({ length: n }, () => 1 / n)
  for (let round = 0; round < ROUNDS; round++) {
    let loose = 0
    for (let i = 0; i < n; i++) if (out[i] === 0) loose += rank[i]!
    const next = Array.from({ length: n }, () => (1 - DAMPING) / n + (DAMPING * loose) / n)
    for (let i = 0; i < n; i++)
      for (const { to, weight } of links[i]!) next[to]! += (DAMPING * rank[i]! * weight) / out[i]!
    rank = next
  }
  const most = Math.max(...rank)
  // Rounded, so that no difference in the last bit decides.
  return rank.map((value) => Math.round((value / most) * 1e6) / 1e6)
}
