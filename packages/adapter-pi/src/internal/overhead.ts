import type { Overhead } from "@varve/core/Counter"

/** A system message of pi from 0.86 on: it has named sections and declares tools. */
interface SystemMessage {
  readonly role: "system"
  readonly sections?: unknown
  readonly toolsAdded?: unknown
  readonly toolsRemoved?: unknown
}

const isObject = (u: unknown): u is Record<string, unknown> => typeof u === "object" && u !== null

const isSystem = (u: unknown): u is SystemMessage => isObject(u) && u["role"] === "system"

const list = (u: unknown): ReadonlyArray<Record<string, unknown>> =>
  Array.isArray(u) ? u.filter(isObject) : []

const same = (a: ReadonlyArray<unknown>, b: ReadonlyArray<unknown>): boolean =>
  a.length === b.length && a.every((x, i) => x === b[i])

/** What of a tool reaches the model. */
const declared = ({ name, description, parameters }: Record<string, unknown>) => ({
  name,
  description,
  parameters
})

/** The sections and tools that hold after all system messages. Their `content` is counted with the messages. */
const replay = (messages: ReadonlyArray<SystemMessage>): Overhead => {
  const sections = new Map<string, string>()
  const tools = new Map<unknown, unknown>()
  for (const { sections: named, toolsAdded, toolsRemoved } of messages) {
    for (const [name, text] of isObject(named) ? Object.entries(named) : []) {
      if (typeof text === "string") sections.set(name, text)
      else sections.delete(name)
    }
    for (const { name } of list(toolsRemoved)) tools.delete(name)
    for (const tool of list(toolsAdded)) tools.set(tool["name"], declared(tool))
  }
  return {
    system: sections.size === 0 ? undefined : [...sections.values()].join("\n\n"),
    tools: tools.size === 0 ? undefined : [...tools.values()]
  }
}

/**
 * Makes a function that says what a request carries beside what a counter sees in its messages: the
 * sections and tools of system messages; without any, what stands beside the messages. The same system
 * messages give the same object, so that they are counted once.
 */
export const messageOverhead = () => {
  let known: { readonly of: ReadonlyArray<unknown>; readonly overhead: Overhead } | undefined
  return (messages: ReadonlyArray<unknown>, beside: Overhead): Overhead => {
    const system = messages.filter(isSystem)
    if (system.length === 0) return beside
    if (known === undefined || !same(known.of, system)) {
      known = { of: system, overhead: replay(system) }
    }
    return known.overhead
  }
}

/** Makes a function that reads the system prompt and the tools of an agent's state. Never throws. */
export const stateOverhead = (agent: { readonly state: unknown }) => {
  let known: { readonly of: ReadonlyArray<unknown>; readonly tools: ReadonlyArray<unknown> } = {
    of: [],
    tools: []
  }
  return (): Overhead => {
    try {
      const { systemPrompt, tools } = agent.state as Record<string, unknown>
      const of = list(tools)
      if (!same(known.of, of)) known = { of, tools: of.map(declared) }
      return {
        system: typeof systemPrompt === "string" && systemPrompt !== "" ? systemPrompt : undefined,
        tools: of.length === 0 ? undefined : known.tools
      }
    } catch {
      return {}
    }
  }
}
