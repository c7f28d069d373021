/** Writing without spaces between words. */
const UNSPACED =
  /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}ー々]+/gu
const WORD = /[\p{L}\p{N}_]+/gu

/** No term is longer, in UTF-16 units: what is, is data. */
const LONGEST = 40

/**
 * The terms of a sentence with how often they stand in it: words in lower case; where writing has no spaces,
 * pairs of characters.
 */
export const termsOf = (sentence: string): ReadonlyMap<string, number> => {
  const terms = new Map<string, number>()
  const add = (term: string): void => void terms.set(term, (terms.get(term) ?? 0) + 1)
  const spaced = sentence.replace(UNSPACED, (run) => {
    const characters = [...run]
    if (characters.length === 1) add(run)
    for (let i = 1; i < characters.length; i++) add(characters[i - 1]! + characters[i]!)
    return " "
  })
  for (const [word] of spaced.matchAll(WORD)) if (word.length <= LONGEST) add(word.toLowerCase())
  return terms
}
