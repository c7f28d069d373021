import type { Loose } from "./values.ts"
import { isRecord } from "./values.ts"

/** What kind of message this is, in LangChain's own word: the class's, else the role of a plain object. */
export const typeOf = ({ role, type }: Loose): string => {
  const own = type === "generic" || typeof type !== "string" ? role : type
  return typeof own === "string" ? own : "unknown"
}

/**
 * A copy of the same class with other fields. No constructor runs: those of LangChain fill in and warn, and
 * one of a host's own may ask for anything.
 */
export const withFields = (host: Loose, fields: Loose): Loose => {
  const copy = Object.assign(Object.create(Object.getPrototypeOf(host) as object), host, fields)
  if (isRecord(host.lc_kwargs)) copy.lc_kwargs = { ...host.lc_kwargs, ...fields }
  return copy as Loose
}

const CLASS_OF: Readonly<Record<string, string>> = {
  user: "human",
  assistant: "ai",
  tool: "tool",
  system: "system"
}

type Class = new (fields: object) => Loose

const isInstance = (host: Loose): boolean =>
  host.lc_kwargs !== undefined && typeof host.constructor === "function"

const built = new WeakMap<object, Loose>()

/**
 * Makes messages of what was composed as plain objects, where the request has one of that class: LangChain
 * would do it too, but a middleware may look at them before.
 */
export const classed = (out: Array<Loose>): Array<Loose> => {
  for (const [i, message] of out.entries()) {
    if (!isRecord(message) || isInstance(message) || typeof message.role !== "string") continue
    let made = built.get(message)
    if (made === undefined) {
      const kind = CLASS_OF[message.role]
      const like = out.find((m) => isRecord(m) && m.type === kind && isInstance(m))
      if (kind === undefined || like === undefined) continue
      const { role: _, ...fields } = message
      try {
        made = new (like.constructor as Class)(fields)
      } catch {
        // A class of the host's own that wants more: LangChain makes its own of the plain object.
        continue
      }
      built.set(message, made)
    }
    out[i] = made
  }
  return out
}
