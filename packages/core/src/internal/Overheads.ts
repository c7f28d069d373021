import type { Counter } from "../Counter.ts"
import { bytesOf } from "./bytes.ts"
import { hashText } from "./hash.ts"

/** What system text and tools cost. */
export interface Besides {
  readonly system: unknown
  readonly tools: unknown
  readonly tokens: number
  /** The part of the tokens that no learned ratio scales. */
  readonly fixed: number
  readonly bytes: number
  /** What they said when they were counted. */
  readonly print: { readonly system: string; readonly tools: string }
}

const printOf = (value: unknown): string => {
  try {
    return hashText(JSON.stringify(value) ?? "")
  } catch {
    return ""
  }
}

/** What system text and tools say now; a host may have written to the same objects since they were counted. */
export const printsOf = ({
  system,
  tools
}: Pick<Besides, "system" | "tools">): Besides["print"] => ({
  system: printOf(system),
  tools: printOf(tools)
})

/** The entries of a list as they are now, so that one that is put in or taken out is seen. */
const entriesOf = (value: unknown): ReadonlyArray<unknown> =>
  Array.isArray(value) ? value.slice() : [value]

const isSame = (entries: ReadonlyArray<unknown>, value: unknown): boolean =>
  Array.isArray(value)
    ? entries.length === value.length && entries.every((entry, i) => entry === value[i])
    : entries.length === 1 && entries[0] === value

/** Counts system text and tools, once as long as they stay the same objects. */
export class Overheads {
  readonly #counter: Counter
  #entries:
    | { readonly system: ReadonlyArray<unknown>; readonly tools: ReadonlyArray<unknown> }
    | undefined
  #known: Besides | undefined

  constructor(counter: Counter) {
    this.#counter = counter
  }

  /** What stood beside the messages last. */
  get last(): Besides | undefined {
    return this.#known
  }

  of(system: unknown, tools: unknown): Besides {
    const [known, entries] = [this.#known, this.#entries]
    if (
      known !== undefined &&
      entries !== undefined &&
      isSame(entries.system, system) &&
      isSame(entries.tools, tools)
    )
      return known
    // Some hosts give the system text as blocks.
    const text =
      typeof system === "string" ? system : (JSON.stringify(system) as string | undefined)
    const list: ReadonlyArray<unknown> = Array.isArray(tools)
      ? tools
      : tools === undefined
        ? []
        : [tools]
    const { tokens, fixed } = this.#counter.request({ system: text, tools: list, messages: [] })
    this.#entries = { system: entriesOf(system), tools: entriesOf(tools) }
    const bytes = bytesOf({ system, tools })
    return (this.#known = {
      system,
      tools,
      tokens,
      fixed,
      bytes,
      print: printsOf({ system, tools })
    })
  }

  /** Counts anew with the next request: the host may have written to the same objects. */
  forget(): void {
    this.#known = undefined
  }
}
