import type { Block, Message } from "../Message.ts"
import { textOf, visitBlocks } from "../Message.ts"
import type { Anchor, Fact, FactKind, Registry } from "../Registry.ts"
import { pathOf, readAnchors } from "./anchors.ts"
import { withoutBase64 } from "./material.ts"
import {
  COMMAND,
  isContentTool,
  isWriteOf,
  keyOf,
  MANNER,
  REMARK,
  sameCommand,
  WRITES
} from "./callKey.ts"
import { linesOf, sentencesOf, statementKind } from "../Statement.ts"
import { isException, isPermission, mayDecide } from "./cues.ts"
import type { Subject } from "./statements.ts"
import {
  errorLine,
  isOnSame,
  replaces,
  saysError,
  short,
  subjectOf,
  wordsOf
} from "./statements.ts"

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

/** Files that a patch in an argument names. */
const PATCHED = /^(?:\*\*\* (?:Add|Update|Delete) File: |\+\+\+ (?:b\/)?)(\S.{0,300})$/gm

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
  /** The tool with all that makes it this call and no other. */
  readonly key: string
  /** The file that it writes. */
  readonly writes: string | undefined
  readonly text: string
  /** Whether its result may tell of a screen, not of a file or a command. */
  readonly screen: boolean
}

type Dropped = NonNullable<Registry["dropped"]>
type Mutable<A> = { -readonly [K in keyof A]: A[K] }
type Name = (kind: Anchor["kind"], text: string, label?: string) => void

/** A registry while it is written to. */
export class Remembered {
  #seen = 0
  readonly #facts = new Map<string, Fact>()
  readonly #anchors = new Map<string, Mutable<Anchor>>()
  readonly #calls = new Map<string, Call>()
  /** How many facts of a kind there are. */
  readonly #many = new Map<FactKind, number>()
  readonly #subjects = new WeakMap<Fact, Subject>()
  readonly #dropped = new Map<keyof Dropped, number>()
  readonly #clean: (text: string) => string

  constructor(redact?: (text: string) => string) {
    this.#clean = (text) => withoutBase64(redact === undefined ? text : redact(text))
  }

  /** Takes in what another registry holds, as if it was read now. */
  merge({ seen, facts, anchors, dropped }: Registry): void {
    for (const [kind, n] of Object.entries(dropped ?? {})) this.#drop(kind as keyof Dropped, n)
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
      if (mayDecide(text))
        for (const line of linesOf(text))
          for (const sentence of sentencesOf(line))
            if (statementKind(sentence, "assistant") === "decision") this.#decide(sentence, at)
      visitBlocks(message, (block) => this.#readCall(block, at, name))
    }
    for (const anchor of names.values()) this.#name(anchor)
  }

  /** What is kept: of each kind the newest facts, and the anchors of most use. */
  freeze(): Registry {
    const seen = this.#seen
    for (const kind of this.#many.keys()) this.#trim(kind)
    const room = { ...ANCHORS }
    const hasRoom = ({ kind }: Anchor): boolean => {
      const fits = room[kind]-- > 0
      // Of files the reader takes what is listed for all there was.
      if (!fits && (kind === "written" || kind === "read")) this.#drop(kind, 1)
      return fits
    }
    const anchors = [...this.#anchors.values()]
      .map((anchor) => [useOf(anchor, seen), anchor] as const)
      .toSorted(([a, x], [b, y]) => b - a || y.at - x.at || (x.text < y.text ? -1 : 1))
      .map(([, anchor]) => anchor)
      .filter(hasRoom)
    return {
      seen,
      facts: [...this.#facts.values()],
      anchors,
      ...(this.#dropped.size === 0 ? {} : { dropped: Object.fromEntries(this.#dropped) })
    }
  }

  #drop(kind: keyof Dropped, n: number): void {
    this.#dropped.set(kind, (this.#dropped.get(kind) ?? 0) + n)
  }

  #fact(kind: FactKind, key: string, text: string, at: number): void {
    const id = kind + " " + key
    const known = this.#facts.get(id)
    if (known !== undefined) this.#forget(known)
    // The newest stands last.
    this.#facts.set(id, { kind, key, text, at })
    const many = (this.#many.get(kind) ?? 0) + 1
    this.#many.set(kind, many)
    // Each decision is held against all others, so there must never be too many.
    if (many > 2 * FACTS[kind]) this.#trim(kind)
  }

  #forget({ kind, key }: Pick<Fact, "kind" | "key">): void {
    if (this.#facts.delete(kind + " " + key)) this.#many.set(kind, this.#many.get(kind)! - 1)
  }

  /** Leaves as many facts of a kind as are kept, the newest. */
  #trim(kind: FactKind): void {
    for (const fact of this.#facts.values()) {
      if (this.#many.get(kind)! <= FACTS[kind]) break
      if (fact.kind !== kind) continue
      this.#forget(fact)
      this.#drop(kind, 1)
    }
  }

  #subject(fact: Fact): Subject {
    const known = this.#subjects.get(fact) ?? subjectOf(fact.text)
    this.#subjects.set(fact, known)
    return known
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
    const subject = subjectOf(sentence)
    for (const fact of this.#facts.values())
      if (fact.kind === "decision" && replaces(subject, this.#subject(fact))) {
        this.#forget(fact)
        // A message that said nothing else is past as well.
        this.#forget({ kind: "request", key: fact.key.replace(/\s+/g, " ") })
      }
    this.#fact("decision", sentence.toLowerCase(), sentence, at)
  }

  #readUser(text: string, at: number): void {
    const said = short(text.slice(0, 1000).trim().replace(/\s+/g, " "), 200)
    // "Go on" is none.
    if (wordsOf(said).size > 1 && said.length > 11)
      this.#fact("request", said.toLowerCase(), said, at)
    let last: { readonly kind: "constraint" | "decision"; text: string } | undefined
    const store = (): void => {
      if (last?.kind === "constraint")
        this.#fact("constraint", last.text.toLowerCase(), last.text, at)
      else if (last !== undefined) this.#decide(last.text, at)
      last = undefined
    }
    // Of "Never do these:" the list below it is the greater part.
    let list = false
    for (const line of linesOf(text)) {
      list &&= /^\s*(?:[-*•+]|\d+[.)])\s|^\s*$/.test(line)
      for (const sentence of sentencesOf(line)) {
        const kind = list ? "constraint" : this.#kindOf(sentence)
        // "Except for …" belongs to what it is an exception of.
        if (kind === undefined && last !== undefined && isException(sentence)) {
          const both = `${last.text} ${sentence}`
          if (both.length <= 600) last.text = both
          continue
        }
        store()
        if (kind === "constraint") list ||= /[:：]$/.test(sentence)
        if (kind !== undefined) last = { kind, text: sentence }
      }
    }
    store()
  }

  #kindOf(sentence: string): "constraint" | "decision" | undefined {
    const kind = statementKind(sentence, "user")
    if (kind === "constraint" || kind === "decision") return kind
    // What lifts a constraint has to stand wherever the constraint does.
    if (!isPermission(sentence)) return undefined
    const subject = subjectOf(sentence)
    for (const fact of this.#facts.values())
      if (fact.kind === "constraint" && isOnSame(subject, this.#subject(fact))) return "constraint"
    return undefined
  }

  #readCall(block: Block, at: number, name: Name): void {
    if (block.type !== "toolCall" || typeof block.name !== "string") return
    const { id, name: tool, arguments: args } = block
    const writes = WRITES.test(tool) && (args as { command?: unknown } | null)?.command !== "view"
    const words: Array<string> = []
    const parts: Array<string> = []
    let path: string | undefined
    let named: string | undefined
    let screen = true
    const visit = (value: unknown, of: string, depth: number): void => {
      if (typeof value === "string") {
        const text = this.#clean(value)
        const file = COMMAND.test(of) ? undefined : pathOf(text)
        if (file === undefined) {
          readAnchors(text, name)
          for (const [, patched] of text.slice(0, 65_536).matchAll(PATCHED))
            name("written", patched!.trim())
        } else {
          name(writes ? "written" : "read", file)
          path ??= file
          if (/path|file/i.test(of)) named ??= file
        }
        if (file !== undefined || COMMAND.test(of)) screen = false
        words.push(short(text, 200))
        if (!REMARK.test(of)) parts.push(COMMAND.test(of) ? sameCommand(text) : text)
      } else if (typeof value === "number") {
        if (!PASSING.test(of)) readAnchors(`${of} ${value}`, name)
        words.push(String(value))
        if (!MANNER.test(of)) parts.push(String(value))
      } else if (typeof value === "boolean") parts.push(String(value))
      else if (typeof value === "object" && value !== null && depth < 6) {
        for (const [key, inner] of Object.entries(value))
          visit(inner, Array.isArray(value) ? of : key, depth + 1)
      }
    }
    visit(args, "", 0)
    const text = short(words.join(" ").trim().replace(/\s+/g, " "), 80)
    const target = writes && isContentTool(tool) ? (named ?? path) : undefined
    if (typeof id === "string")
      this.#calls.set(id, {
        key: target === undefined ? keyOf(tool, parts) : `${tool} ${target}`,
        writes: target,
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
    // Of a result without its call nobody knows what clears it.
    const key = call?.key ?? `${tool} ${short(String(message.toolCallId), 64)}`
    if (message.isError === true || saysError(text))
      this.#fact("error", key, `${call?.text ?? tool}: ${errorLine(text)}`, at)
    else {
      this.#forget({ kind: "error", key })
      if (call?.writes !== undefined)
        for (const fact of this.#facts.values())
          if (fact.kind === "error" && isWriteOf(fact.key, call.writes)) this.#forget(fact)
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
