import * as Context from "effect/Context"

/**
 * Takes out of a text what nobody may see. It gets each text by itself and may get one that it gave: what it
 * has taken out it must not take for something else.
 */
export type Redact = (text: string) => string

/**
 * The `redact` of the memory that a strategy is started for; where the memory has none, what gives a text back
 * as it is. Edits and steps are redacted by the memory itself: a strategy needs it for what it sends elsewhere.
 *
 * @example
 * ```ts
 * import { CurrentRedact } from "@varve/core/Redact"
 * import { make } from "@varve/core/Strategy"
 * import * as Effect from "effect/Effect"
 *
 * const sent: Array<string> = []
 * const telling = make(
 *   "telling",
 *   Effect.map(CurrentRedact, (redact) => (view) =>
 *     Effect.sync(() => {
 *       sent.push(...view.results.map(({ text }) => redact(text)))
 *       return []
 *     })
 *   )
 * )
 * console.log(telling.name) // => telling
 * ```
 */
export const CurrentRedact = Context.Reference<Redact>("@varve/core/Redact", {
  defaultValue: () => (text) => text
})

const ESCAPE = /\\(?:u([\da-f]{4})|(["\\/bfnrt]))/gi
const UNITS: Readonly<Record<string, string>> = { b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" }

const unescaped = (text: string): string =>
  text.replace(ESCAPE, (_, code: string | undefined, unit: string) =>
    code === undefined
      ? (UNITS[unit.toLowerCase()] ?? unit)
      : String.fromCharCode(Number.parseInt(code, 16))
  )

/** How often JSON may stand in JSON. */
const DEEP = 4

/**
 * The same, and it also finds what stands in a text as JSON writes it: with an escape for a line break, a quote,
 * a backslash or any other character, also where JSON stands in JSON. Where something was taken out in that
 * way, the escapes of this text are resolved. The `redact` of a memory, and `CurrentRedact`, do so by themselves.
 *
 * @example
 * ```ts
 * import { redactEscaped } from "@varve/core/Redact"
 *
 * const redact = redactEscaped((text) => text.replaceAll('my "key"', "[key]"))
 * console.log(redact(JSON.stringify({ use: 'my "key"' }))) // => {"use":"[key]"}
 * ```
 */
export const redactEscaped =
  (redact: Redact): Redact =>
  (text) => {
    const out = redact(text)
    let plain = out
    for (let depth = 0; depth < DEEP && plain.includes("\\"); depth++) {
      const next = unescaped(plain)
      if (next === plain) break
      const clean = redact((plain = next))
      if (clean !== plain) return redactEscaped(redact)(clean)
    }
    return out
  }
