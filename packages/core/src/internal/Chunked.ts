/** Entries of a chunk: a change copies one of them and the list of all. */
const SIZE = 128

/**
 * A list that never changes. What is made from it shares its chunks up to the first difference, so that a long
 * list goes on for the price of what is new. A chunk may hold more than a list has: what longer ones go on with.
 */
export class Chunked<A> {
  readonly length: number
  readonly #chunks: ReadonlyArray<Array<A>>
  #flat: ReadonlyArray<A> | undefined

  private constructor(chunks: ReadonlyArray<Array<A>>, length: number) {
    this.#chunks = chunks
    this.length = length
  }

  static of<A>(list: ReadonlyArray<A>): Chunked<A> {
    return new Chunked<A>([], 0).instead(0, list)
  }

  at(index: number): A | undefined {
    return index < this.length ? this.#chunks[Math.floor(index / SIZE)]?.[index % SIZE] : undefined
  }

  /** This list up to `stay`, and others behind that. */
  instead(stay: number, others: ReadonlyArray<A>): Chunked<A> {
    if (stay === this.length && others.length === 0) return this
    const whole = Math.floor(stay / SIZE)
    const last = this.#chunks[whole] ?? []
    const isEnd = stay === this.length && last.length === stay % SIZE
    // Nothing stands there yet in any list, so that no list is changed.
    if (isEnd && last.length > 0 && last.length + others.length <= SIZE) {
      last.push(...others)
      return new Chunked(this.#chunks, stay + others.length)
    }
    const rest = last.slice(0, stay % SIZE).concat(others)
    const chunks = [rest]
    if (rest.length > SIZE) {
      chunks.pop()
      for (let i = 0; i < rest.length; i += SIZE) chunks.push(rest.slice(i, i + SIZE))
    }
    return new Chunked(this.#chunks.slice(0, whole).concat(chunks), stay + others.length)
  }

  /** How many entries at the front are those of another list. */
  sharedWith(other: Chunked<A>): number {
    const most = Math.min(this.length, other.length)
    let chunk = 0
    while (chunk * SIZE < most && this.#chunks[chunk] === other.#chunks[chunk]) chunk++
    let i = Math.min(most, chunk * SIZE)
    while (i < most && this.at(i) === other.at(i)) i++
    return i
  }

  /** All entries in an array of their own. */
  toArray(): Array<A> {
    const all = ([] as Array<A>).concat(...this.#chunks)
    all.length = this.length
    return all
  }

  /** All entries in one array; the same at each call. */
  get flat(): ReadonlyArray<A> {
    return (this.#flat ??= this.toArray())
  }
}
