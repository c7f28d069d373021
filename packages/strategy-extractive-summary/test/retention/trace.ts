import type { Message } from "@varve/core/Message"

/** What is planted in a run, and looked for in what the model gets after each compaction. */
export type NeedleKind =
  | "goal"
  | "constraint"
  | "decision"
  | "open error"
  | "touched file"
  | "path"
  | "number"
  | "screen"
  | "failed step"
  | "pending step"

export const needleKinds: ReadonlyArray<NeedleKind> = [
  "goal",
  "constraint",
  "decision",
  "open error",
  "touched file",
  "path",
  "number",
  "screen",
  "failed step",
  "pending step"
]

export interface Needle {
  readonly kind: NeedleKind
  /** The step that it is planted in. */
  readonly at: number
  /** The step from which on it no longer holds: it was decided anew, the screen was left. */
  readonly until: number
  /** All of these must be there: a value that follows from two places has two. */
  readonly parts: ReadonlyArray<string>
}

interface Step {
  readonly messages: ReadonlyArray<Message>
  readonly goal: string
  readonly outcome: "success" | "failed" | undefined
  readonly callId: string
  readonly tool: string
  /** Identifiers that the agent writes in this step. */
  readonly uses: ReadonlyArray<string>
  /** Identifiers that this step's messages name. */
  readonly names: ReadonlyArray<string>
}

export interface Trace {
  readonly task: Message
  readonly steps: ReadonlyArray<Step>
  readonly needles: ReadonlyArray<Needle>
}

/** Numbers from 0 to below 1, the same for the same seed. */
const random = (seed: number): (() => number) => {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 0x1_0000_0000
  }
}

const SYLLABLES = "ba ke lo mi nu ra se ti vo xa da fe go hi ju pa".split(" ")
const CONSTRAINTS: ReadonlyArray<(name: string) => string> = [
  (n) => `Never click Delete in the ${n} list.`,
  (n) => `You must not push to the ${n} branch.`,
  (n) => `Always ask me before you pay for ${n}.`,
  (n) => `Don't touch the ${n} settings, please.`,
  (n) => `绝不要打开 ${n} 的附件。`,
  (n) => `Die ${n}-Daten darfst du niemals löschen.`
]
const STORES = "database queue cache search mail billing".split(" ")

/**
 * A run of an agent over files, a shell and a browser, with needles in its first twenty steps and decisions
 * that are taken back later. All of it follows from the seed.
 */
export const makeTrace = (seed: number, length: number): Trace => {
  const next = random(seed)
  const below = (n: number): number => Math.floor(next() * n)
  const pick = <A>(list: ReadonlyArray<A>): A => list[below(list.length)]!
  const word = (): string => pick(SYLLABLES) + pick(SYLLABLES) + pick(SYLLABLES)
  const name = (): string => {
    const second = word()
    return word() + second[0]!.toUpperCase() + second.slice(1)
  }
  const words = (n: number): string => Array.from({ length: n }, word).join(" ")

  const needles: Array<Needle> = []
  const plant = (
    kind: NeedleKind,
    at: number,
    parts: ReadonlyArray<string>,
    until = Infinity
  ): void => void needles.push({ kind, at, until, parts })
  const goal = `Move the shop of ${word()} to the new ${word()} platform and report what is left.`
  plant("goal", 0, [goal])

  const constraints = CONSTRAINTS.map((make) => make(word()))
  const values = STORES.map(() => [name(), name()] as const)
  const ids = Array.from({ length: length * 2 }, name)
  const used: Array<string> = []
  const steps: Array<Step> = []
  for (let i = 0; i < length; i++) {
    const messages: Array<Message> = []
    const texts: Array<string> = []
    let said = `Step ${i}: I look at the ${word()} ${word()}.`
    let tool = pick(["read", "edit", "bash", "browser_click"])
    let args: Record<string, unknown> = {
      [tool === "bash" ? "command" : "selector"]: `${word()} ${word()}`
    }
    let isError = false
    let outcome: Step["outcome"] = next() < 0.9 ? "success" : "failed"

    if (i >= 2 && i < 8) {
      const constraint = constraints[i - 2]!
      messages.push({ role: "user", content: `About ${words(4)}. ${constraint} So ${words(3)}.` })
      plant("constraint", i, [constraint])
    } else if (i >= 8 && i < 14) {
      const [value] = values[i - 8]!
      const store = STORES[i - 8]!
      messages.push({
        role: "user",
        content: `Let's use ${value} for the ${store}. About ${words(5)}.`
      })
      plant("decision", i, [value], i < 11 ? 40 + i : Infinity)
    } else if (i >= 48 && i < 51) {
      const [old, value] = values[i - 48]!
      const store = STORES[i - 48]!
      messages.push({
        role: "user",
        content: `Actually, use ${value} for the ${store} instead of ${old}.`
      })
      plant("decision", i, [value])
    }
    const fails = i >= 15 && i < 19
    if (i < 20 && !fails) {
      const file = `src/${word()}/${word()}-${i}.ts`
      if (tool === "browser_click") tool = "read"
      args = tool === "bash" ? { command: `cat ${file}` } : { path: file }
      plant(tool === "bash" ? "path" : "touched file", i, [file])
      const path = `/home/${word()}/${word()}/report-${i}.csv`
      texts.push(`See ${path} and config/${word()}-${i}.yaml for more.`)
      plant("path", i, [path])
    }
    if (fails) {
      const message = `${word()} is locked by ${word()} (code E${1000 + below(9000)})`
      tool = "bash"
      args = { command: `make ${word()}-${i}` }
      texts.unshift(`Error: ${message}`)
      isError = true
      outcome = "failed"
      plant("open error", i, [message])
    }
    if (i % 7 === 3 && i > 20) {
      tool = "browser_click"
      const url = `https://${word()}.example/orders/${i}`
      args = { selector: `#${word()}` }
      texts.push(`- Page URL: ${url}\n- Focused field: ${word()} ${i}`)
      const last = needles.findLastIndex(({ kind }) => kind === "screen")
      if (last >= 0) needles[last] = { ...needles[last]!, until: i }
      plant("screen", i, [url])
    }
    if (i < 10) {
      const order = String(40_000 + below(50_000))
      texts.push(`The order ${order} is paid.`)
      if (i % 2 === 0) {
        said += ` The next one is order ${order}.`
        plant("number", i, [order])
      } else {
        const fee = String(1000 + below(9000))
        said += ` Order ${order} costs what the page says and a fee of ${fee}.`
        plant("number", i, [order, fee])
      }
    }
    // Some identifiers come up again: mostly those that the agent has used before.
    const seen = ids.slice(2 * i, 2 * i + 2)
    const use = used.length > 5 && next() < 0.7 ? pick(used) : pick(ids.slice(0, 2 * i + 2))
    if (!used.includes(use)) used.push(use)
    said += ` ${use} is next.`
    texts.push(`${seen.join(" and ")} were found, with ${name()}, ${name()} and ${name()}.`)
    texts.push(words(90))

    const id = `call-${i}`
    messages.push({
      role: "assistant",
      content: [
        { type: "text", text: said },
        { type: "toolCall", id, name: tool, arguments: args }
      ]
    })
    messages.push({
      role: "toolResult",
      toolCallId: id,
      toolName: tool,
      isError,
      content: [{ type: "text", text: texts.join("\n") }]
    })
    if (i === 5) {
      outcome = undefined
      plant("pending step", i, [`upload batch ${word()}-5`])
    } else if (outcome === "failed" && i < 20) plant("failed step", i, [String(i)])
    const pending = needles.at(-1)!
    steps.push({
      messages,
      goal: i === 5 ? pending.parts[0]! : `${tool} ${word()} ${i}`,
      outcome,
      callId: id,
      tool,
      uses: [use],
      names: [...seen, use]
    })
  }
  return { task: { role: "user", content: goal }, steps, needles }
}
