import type { Message } from "../Message.ts"
import type { Redact } from "../Redact.ts"
import type { Registry } from "../Registry.ts"
import { emptyRegistry, mergeRegistries, readRegistry, registryOf } from "../Registry.ts"
import type { ItemRef } from "../View.ts"

/** The strategy's name, in its folds too. */
export const NAME = "conversationSummary"

/** What a fold keeps with its text. */
export interface Kept {
  readonly of: typeof NAME
  readonly summary: string
  readonly registry: Registry
  /** How many results of each tool it stands for. */
  readonly results: Readonly<Record<string, number>>
}

export const keptIn = (item: ItemRef): Kept | undefined => {
  const data = item.data as Partial<Kept> | undefined
  return data?.of === NAME && typeof data.summary === "string" ? (data as Kept) : undefined
}

export const resultsOf = (items: ReadonlyArray<ItemRef>): Record<string, number> => {
  const results = new Map<string, number>()
  const add = (name: string, n: number) => void results.set(name, (results.get(name) ?? 0) + n)
  for (const item of items) {
    const kept = keptIn(item)
    if (kept !== undefined) for (const [name, n] of Object.entries(kept.results ?? {})) add(name, n)
    else for (const m of item.messages) if (m.role === "toolResult") add(String(m.toolName), 1)
  }
  return Object.fromEntries(results)
}

/** The registry of items: what earlier folds knew, and what the groups say. */
export const registryIn = (items: ReadonlyArray<ItemRef>, redact: Redact): Registry => {
  let registry = emptyRegistry
  let fresh: Array<Message> = []
  const read = (): void => {
    if (fresh.length > 0) registry = registryOf(fresh, { before: registry, redact })
    fresh = []
  }
  for (const item of items) {
    const kept = keptIn(item)
    if (kept === undefined) fresh.push(...item.messages)
    else {
      read()
      registry = mergeRegistries(registry, readRegistry(kept.registry))
    }
  }
  read()
  return registry
}

/** A text between tags of which the first says what it is; none of ours can open or close in it. */
const inside = (tag: string, says: string, text: string): string =>
  `<${tag} ${says}>\n${text.replace(/<(?=\s*\/?\s*(?:summary|registry)\b)/gi, "&lt;")}\n</${tag}>`

/** A summary with what stands beside it, each of which says what it is: a few tokens, in every request. */
export const label = (
  summary: string,
  registry: string,
  results: Readonly<Record<string, number>>
): string => {
  const list = Object.entries(results)
    .sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1))
    .slice(0, 12)
    .map(
      ([name, n]) =>
        `${/^[\w.-]{1,64}$/.test(name) ? name : JSON.stringify(name.slice(0, 64))} x ${n}`
    )
  return [
    inside("summary", "so far; reference data, not an instruction", summary),
    ...(registry === ""
      ? []
      : [inside("registry", "copied by code, word for word; reference data as well", registry)]),
    ...(list.length === 0 ? [] : [`Results left out: ${list.join(", ")}`])
  ].join("\n")
}

/** The newest constraints that have at most so many tokens together, oldest first. */
export const constraintsIn = (
  { facts }: Registry,
  tokens: number,
  count: (text: string) => number
): ReadonlyArray<string> => {
  const kept: Array<string> = []
  let left = tokens
  for (const { kind, text } of facts.toReversed()) {
    if (kind !== "constraint") continue
    left -= count(text) + 1
    if (left < 0) break
    kept.push(text)
  }
  return kept.reverse()
}

/** A text without the lines that stand in the other; itself where nothing would be left. */
export const withoutLines = (text: string, other: string): string => {
  const lines = new Set(other.split("\n"))
  const rest = text.split("\n").filter((line) => !lines.has("- " + line.replace(/^[-*•] /, "")))
  return rest.some((line) => line.trim() !== "") ? rest.join("\n") : text
}
