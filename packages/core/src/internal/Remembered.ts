import type { Block, Message } from "../Message.ts"
import { textOf, visitBlocks } from "../Message.ts"
import type { Anchor, Fact, FactKind, Registry } from "../Registry.ts"
import { pathOf, readAnchors } from "./anchors.ts"
import { withoutBase64 } from "./material.ts"
import { sentencesOf, statementKind } from "../Statement.ts"
import { ends, errorLine, LINE_BREAK, replaces, saysError, short, wordsOf } from "./statements.ts"

/** How many facts of a kind are kept, the newest. */
const FACTS: Readonly<Record<FactKind, number>> = {
  request: 40,
  constraint: 60,
  decision: 60,
  error: 24,
  screen: 12
}

/** How many anchors of a kind are kept, those of most use. */
const ANCHORS: Readonly<Record<Anchor["kind"], number>> = {
  written: 150,
  read: 150,
  path: 100,
  url: 30,
  id: 200,
  number: 40
}

const STRENGTH: ReadonlyArray<Anchor["kind"]> = ["number", "id", "url", "path", "read", "written"]

const isStronger = (a: Anchor["kind"], b: Anchor["kind"]): boolean =>
  STRENGTH.indexOf(a) > STRENGTH.indexOf(b)

const WRITES = /write|edit|create|patch|replace|delete|remove|move|rename|save|insert|append/i

/** Files that a patch in an argument names. */
const PATCHED = /^(?:\*\*\* (?:Add|Update|Delete) File: |\+\+\+ (?:b\/)?)(\S.{0,300})$/gm

/** Names of arguments that hold a command, not a name. */
const COMMAND = /^(?:command|cmd|script|code)$/i

/** Names of arguments whose numbers nobody needs again: places on a screen, times, limits. */
const PASSING =
  /^(?:[xy]\d?|d[xy]|width|height)$|coordinate|position|offset|limit|timeout|delay|duration/i

const SCREEN =
  /^[-*\s]*(?:(?:current|active|page|open|focused|selected)[ _-](url|title|page|window|app(?:lication)?|tab|screen|view|dialog|form|field|element)|(url|window|app(?:lication)?|tab|screen|dialog|focus(?:ed)?|cwd|working directory))\s*[:=]\s*(\S.{0,180})$/gim
const SCREEN_ARGUMENT = /^(?:url|app(?:lication)?|window|tab|page)$/i

/**
 * Of how much use an anchor is: what the agent wrote itself counts most, then what comes up often, then what
 * is new. Paths relative to a file that isn't named count little. Measured on real sessions, any weights
 * from 1 to 8 and ages from 50 to 1 000 messages do as well as these, within 2 %.
 */
export const useOf = ({ kind, text, uses, own, at }: Anchor, seen: number): number =>
  ((uses + 4 * own) * (kind === "path" && /^\.{1,2}\//.test(text) ? 0.2 : 1)) /
  (1 + (seen - at) / 500)

/** A call that was made: what its result is about. */
interface Call {
  /** The tool with what it was called on. */
  readonly key: string
  readonly path: string | undefined
  readonly writes: boolean
  readonly text: string
  /** Whether its result may tell of a screen, not of a file or a command. */
  readonly screen: boolean
}

type Mutable<A> = { -readonly [K in keyof A]: A[K] }
type Name = (kind: Anchor["kind"], text: string, label?: string) => void

/** A registry while it is written to. */
export class Remembered {
  #seen = 0
  readonly #facts = new Map<string, Fact>()
  readonly #anchors = new Map<string, Mutable<Anchor>>()
  readonly #calls = new Map<string, Call>()
  readonly #clean: (text: string) => string

  constructor(redact?: (text: string) => string) {
    this.#clean = (text) => withoutBase64(redact === undefined ? text : redact(text))
  }

  /** Takes in what another registry holds, as if it was read now. */
  merge({ seen, facts, anchors }: Registry): void {
    for (const { kind, key, text, at } of facts) this.#fact(kind, key, text, this.#seen + at)
    for (const anchor of anchors) this.#name({ ...anchor, at: this.#seen + anchor.at })
    this.#seen += seen
  }

  /** Reads one message. */
  read(message: Message): void {
    const at = this.#seen++
    const names = new Map<string, Mutable<Anchor>>()
    const own = message.role === "assistant" ? 1 : 0
    const name: Name = (kind, text, label) => {
      const known = names.get(text)
      if (known !== undefined && !isStronger(kind, known.kind)) return
      names.set(text, { kind, text, at, uses: 1, own, ...(label === undefined ? {} : { label }) })
    }
    const text = this.#clean(textOf(message))
    readAnchors(text, name)
    if (message.role === "user") this.#readUser(text, at)
    else if (message.role === "toolResult") this.#readResult(message, text, at)
    else if (message.role === "assistant") {
      if (statementKind(text, "assistant") === "decision")
        for (const sentence of sentencesOf(text))
          if (statementKind(sentence, "assistant") === "decision") this.#decide(sentence, at)
      visitBlocks(message, (block) => this.#readCall(block, at, name))
    }
    for (const anchor of names.values()) this.#name(anchor)
  }

  /** What is kept: of each kind the newest facts, and the anchors of most use. */
  freeze(): Registry {
    const seen = this.#seen
    const room: Record<string, number> = { ...FACTS, ...ANCHORS }
    const hasRoom = ({ kind }: Fact | Anchor): boolean => room[kind]!-- > 0
    const facts = [...this.#facts.values()].toReversed().filter(hasRoom).toReversed()
    const anchors = [...this.#anchors.values()]
      .map((anchor) => [useOf(anchor, seen), anchor] as const)
      .toSorted(([a, x], [b, y]) => b - a || y.at - x.at || (x.text < y.text ? -1 : 1))
      .map(([, anchor]) => anchor)
      .filter(hasRoom)
    return { seen, facts, anchors }
  }

  #fact(kind: FactKind, key: string, text: string, at: number): void {
    const id = kind + " " + key
    // The newest stands last.
    this.#facts.delete(id)
    this.#facts.set(id, { kind, key, text, at })
  }

  #name(anchor: Mutable<Anchor>): void {
    const known = this.#anchors.get(anchor.text)
    if (known === undefined) {
      this.#anchors.set(anchor.text, anchor)
      return
    }
    if (isStronger(anchor.kind, known.kind)) known.kind = anchor.kind
    known.at = anchor.at
    known.uses += anchor.uses
    known.own += anchor.own
    if (anchor.label !== undefined) known.label = anchor.label
  }

  #decide(sentence: string, at: number): void {
    for (const { kind, key, text } of this.#facts.values())
      if (kind === "decision" && replaces(sentence, text)) this.#facts.delete("decision " + key)
    this.#fact("decision", sentence.toLowerCase(), sentence, at)
  }

  #readUser(text: string, at: number): void {
    const said = short(text.slice(0, 1000).trim().replace(/\s+/g, " "), 200)
    // "Go on" is none.
    if (wordsOf(said).size > 1 && said.length > 11)
      this.#fact("request", said.toLowerCase(), said, at)
    // Of "Never do these:" the list below it is the greater part.
    let list = false
    for (const line of ends(text, 65_536).split(LINE_BREAK)) {
      list &&= /^\s*(?:[-*•+]|\d+[.)])\s|^\s*$/.test(line)
      for (const sentence of sentencesOf(line)) {
        const kind = list ? "constraint" : statementKind(sentence, "user")
        if (kind === "constraint") {
          this.#fact(kind, sentence.toLowerCase(), sentence, at)
          list ||= /[:：]$/.test(sentence)
        } else if (kind === "decision") this.#decide(sentence, at)
      }
    }
  }

  #readCall(block: Block, at: number, named: Name): void {
    if (block.type !== "toolCall" || typeof block.name !== "string") return
    const { id, name: tool, arguments: args } = block
    const writes = WRITES.test(tool) && (args as { command?: unknown } | null)?.command !== "view"
    const words: Array<string> = []
    let path: string | undefined
    let screen = true
    const visit = (value: unknown, name: string, depth: number): void => {
      if (typeof value === "string") {
        const text = this.#clean(value)
        const file = COMMAND.test(name) ? undefined : pathOf(text)
        if (file === undefined) {
          readAnchors(text, named)
          for (const [, patched] of text.slice(0, 65_536).matchAll(PATCHED))
            named("written", patched!.trim())
        } else {
          named(writes ? "written" : "read", file)
          path ??= file
        }
        if (file !== undefined || COMMAND.test(name)) screen = false
        words.push(short(text, 200))
      } else if (typeof value === "number") {
        if (!PASSING.test(name)) readAnchors(`${name} ${value}`, named)
        words.push(String(value))
      } else if (typeof value === "object" && value !== null && depth < 6) {
        for (const [key, inner] of Object.entries(value))
          visit(inner, Array.isArray(value) ? name : key, depth + 1)
      }
    }
    visit(args, "", 0)
    const text = short(words.join(" ").trim().replace(/\s+/g, " "), 80)
    if (typeof id === "string")
      this.#calls.set(id, {
        key: `${tool} ${path ?? headOf(text)}`,
        path,
        writes,
        text: text === "" ? tool : `${tool} ${text}`,
        screen
      })
    if (!screen || typeof args !== "object" || args === null) return
    for (const [key, value] of Object.entries(args))
      if (SCREEN_ARGUMENT.test(key) && typeof value === "string" && value !== "")
        this.#fact("screen", key.toLowerCase(), short(this.#clean(value), 180), at)
  }

  #readResult(
    message: { readonly toolCallId: string; readonly toolName: string; readonly isError: boolean },
    text: string,
    at: number
  ): void {
    const tool = String(message.toolName)
    const call = this.#calls.get(message.toolCallId)
    const key = call?.key ?? tool
    if (message.isError === true || saysError(text))
      this.#fact("error", key, `${call?.text ?? tool}: ${errorLine(text)}`, at)
    else {
      this.#facts.delete("error " + key)
      // A file that could be written is past what failed on it.
      if (call?.writes === true && call.path !== undefined)
        for (const fact of this.#facts.values())
          if (fact.kind === "error" && fact.key.endsWith(" " + call.path))
            this.#facts.delete("error " + fact.key)
    }
    if (call?.screen === false) return
    const seen = new Set<string>()
    for (const [, a, b, value] of text.slice(0, 8192).matchAll(SCREEN)) {
      const name = (a ?? b)!.toLowerCase()
      if (!seen.has(name)) this.#fact("screen", name, value!.trim(), at)
      seen.add(name)
    }
  }
}

/** The first words of a command, without a change of folder before it. */
const headOf = (command: string): string =>
  command
    .replace(/^cd \S+ *(?:&&|;) */, "")
    .split(" ")
    .slice(0, 3)
    .join(" ")
