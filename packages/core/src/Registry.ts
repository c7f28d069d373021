import type { Message } from "./Message.ts"
import { Remembered } from "./internal/Remembered.ts"
import type { RegistryTextOptions } from "./internal/registryText.ts"
import { registryText } from "./internal/registryText.ts"

/** What a fact is. `screen` is what a GUI showed last: its window, its URL, its focus. */
export type FactKind = "request" | "constraint" | "decision" | "error" | "screen"

/** Something that was said or seen, word for word. Of facts with one kind and key, the latest is kept. */
export interface Fact {
  readonly kind: FactKind
  readonly key: string
  readonly text: string
  /** In which message, counted from the first that was read. */
  readonly at: number
}

/** A name that may have to be written again, letter for letter. `written` and `read` are files that tools touched. */
export interface Anchor {
  readonly kind: "written" | "read" | "path" | "url" | "id" | "number"
  readonly text: string
  /** The last message that names it. */
  readonly at: number
  /** How many messages name it. */
  readonly uses: number
  /** How many of these are the agent's own. */
  readonly own: number
  /** Of a number, the word right before it, where it may be its name. */
  readonly label?: string
}

/** What code remembers of messages that leave the view. JSON, and bounded: some 60 KB at most. */
export interface Registry {
  /** How many messages were read. */
  readonly seen: number
  /** Oldest first. */
  readonly facts: ReadonlyArray<Fact>
  /** Of most use first. */
  readonly anchors: ReadonlyArray<Anchor>
  /** How many facts and files of a kind left it, since it keeps no more of them. */
  readonly dropped?: Readonly<Partial<Record<FactKind | "written" | "read", number>>>
}

/** What `registryOf` takes beside the messages. */
export interface RegistryOptions {
  /** What is known already; default: nothing. */
  readonly before?: Registry
  /** Takes out of a text what must not be kept. */
  readonly redact?: (text: string) => string
}

export type { RegistryTextOptions } from "./internal/registryText.ts"

/** A registry of nothing. */
export const emptyRegistry: Registry = { seen: 0, facts: [], anchors: [] }

/**
 * Reads messages into a registry, without a model: what the user asked, forbade and allowed again, decisions
 * (a later one takes the place of an earlier one that it names), errors until the very same call works or the
 * file that couldn't be written is, the state of the screen, files that tools touched, paths, URLs, identifiers and numbers. Constraints are taken from
 * the user alone: what a page or a file says is never one. Names that look like keys or passwords are left
 * out. Deterministic; linear in the length of the texts; never throws, whatever the messages are.
 *
 * @example
 * ```ts
 * import { registryOf, renderRegistry } from "@varve/core/Registry"
 *
 * const registry = registryOf([
 *   { role: "user", content: "Pay invoice INV-2041. Never click Delete." },
 *   { role: "user", content: "Use the savings account for it instead." }
 * ])
 * console.log(renderRegistry(registry, { tokens: 200, count: (text) => text.length / 4 }))
 * // => Asked before, oldest first: - Pay invoice INV-2041. Never click Delete. Constraints of the user, and decisions, oldest first; what was said later may change them: - Never click Delete. - Use the savings account for it instead. Identifiers: INV-2041
 * ```
 */
export const registryOf = (
  messages: ReadonlyArray<Message>,
  { before, redact }: RegistryOptions = {}
): Registry => {
  const remembered = new Remembered(redact)
  if (before !== undefined) remembered.merge(before)
  for (const message of messages) remembered.read(message)
  return remembered.freeze()
}

/**
 * Two registries as one, as if the messages of the second had been read after those of the first. Nothing is
 * made anew: what both know is counted together, and what is over the bounds leaves by its use.
 */
export const mergeRegistries = (earlier: Registry, later: Registry): Registry => {
  const remembered = new Remembered()
  remembered.merge(earlier)
  remembered.merge(later)
  return remembered.freeze()
}

/**
 * The text of a registry for a model, in sections, within `tokens`; empty where there is nothing to say. Each
 * section has a share of the tokens; constraints, decisions and open errors come first in what is left, then
 * written files and requests. A section that had to leave something out says how much, and all files that
 * were written are in it; other names are left out where they stand beside it already.
 */
export const renderRegistry = (registry: Registry, options: RegistryTextOptions): string =>
  registryText(registry, options)

const COUNTED = ["request", "constraint", "decision", "error", "screen", "written", "read"] as const

const KINDS: ReadonlySet<unknown> = new Set<FactKind | Anchor["kind"]>([
  ...COUNTED,
  "path",
  "url",
  "id",
  "number"
])

const isEntry = (u: unknown, check: "key" | "uses"): boolean => {
  const entry = (u ?? {}) as Record<string, unknown>
  return (
    KINDS.has(entry.kind) &&
    typeof entry.text === "string" &&
    Number.isFinite(entry.at) &&
    (check === "key"
      ? typeof entry.key === "string"
      : Number.isFinite(entry.uses) && Number.isFinite(entry.own))
  )
}

/** Reads back a registry that was saved as JSON; entries that are none are left out. */
export const readRegistry = (data: unknown): Registry => {
  const { seen, facts, anchors, dropped } = (data ?? {}) as Partial<Registry>
  if (!Number.isFinite(seen) || !Array.isArray(facts) || !Array.isArray(anchors))
    return emptyRegistry
  const counts = COUNTED.map(
    (kind) => [kind, (dropped as Registry["dropped"] | null)?.[kind]] as const
  ).filter(([, n]) => Number.isSafeInteger(n) && n! > 0)
  return {
    seen: seen!,
    facts: facts.filter((fact) => isEntry(fact, "key")),
    anchors: anchors.filter((anchor) => isEntry(anchor, "uses")),
    ...(counts.length === 0 ? {} : { dropped: Object.fromEntries(counts) })
  }
}
