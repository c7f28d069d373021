import type { Counter } from "../Counter.ts"
import { estimateCounter } from "../Counter.ts"
import type { Redact } from "../Redact.ts"
import { show } from "../VarveError.ts"
import { errorText } from "./box.ts"
import { isCount } from "./count.ts"

/**
 * The same counter, whose counts are numbers of at least 0: compared with anything else, a limit would never
 * be reached. Where it gives something else or throws, the estimate stands in for it; `warn` is told once.
 */
export const safeCounter = (
  counter: Counter,
  warn: (message: string) => void,
  redact?: Redact
): Counter => {
  const estimate = estimateCounter()
  let told = false
  const tell = (gave: string, what: string): void => {
    if (told) return
    told = true
    warn(`the counter ${counter.name} ${gave} for ${what}; where it does, the estimate counts`)
  }
  const checked =
    <In extends ReadonlyArray<unknown>, Out>(
      what: string,
      is: (out: Out) => boolean,
      count: (...given: In) => Out,
      instead: (...given: In) => Out
    ) =>
    (...given: In): Out => {
      try {
        const out = count(...given)
        if (is(out)) return out
        const tokens = (out as { tokens?: unknown } | null)?.tokens
        const gave = tokens ?? out
        tell(`gave ${show(typeof gave === "string" ? (redact?.(gave) ?? gave) : gave)}`, what)
      } catch (error) {
        tell(`failed with ${errorText(error, redact)}`, what)
      }
      return instead(...given)
    }
  const { name, ready } = counter
  return {
    name,
    text: checked("a text", isCount, (s) => counter.text(s), estimate.text),
    image: checked("an image", isCount, (...i) => counter.image(...i), estimate.image),
    message: checked("a message", isCount, (m) => counter.message(m), estimate.message),
    request: checked(
      "a request",
      (r) => isCount(r.tokens) && isCount(r.fixed),
      (r) => counter.request(r),
      estimate.request
    ),
    ...(ready === undefined ? {} : { ready })
  }
}

/** Most causes of which a host is told. */
const WARNINGS = 50

/** Tells of each cause once. */
export const onceEach = (
  tell: (message: string) => void
): ((cause: string, message: string) => void) => {
  const told = new Set<string>()
  return (cause, message) => {
    if (told.has(cause) || told.size >= WARNINGS) return
    told.add(cause)
    tell(message)
  }
}
