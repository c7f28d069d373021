import { deepFreeze } from "@varve/testkit/Freeze"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { createMemory } from "../src/createMemory.ts"
import * as Edit from "../src/Edit.ts"
import type { Message } from "../src/Message.ts"
import { blocksOf, isTail, textOf } from "../src/Message.ts"
import { stepMemory } from "../src/StepMemory.ts"
import { strategy } from "../src/Strategy.ts"
import { assistant, result, task, user } from "./fixtures/history.ts"

const OPEN = "[Memo, made anew for each request:]"
const CLOSE = "[End of the memo]"

const answer = (text: string): Message => ({
  role: "assistant",
  content: [{ type: "text", text }]
})

/** A memo of one's own, in words that a user may say as well. */
const hinting = (hint: () => string) =>
  strategy("hint", () => [
    Edit.proposal("as told", [Edit.memo("hint", hint(), { cap: 60, tail: true })])
  ])

const make = (hint = () => "Answer in JSON.") =>
  createMemory({ pipeline: [stepMemory({ place: "tail" }), hinting(hint)] })

type Memory = ReturnType<typeof make>

const done = (memory: Memory, i: number) => {
  memory.steps.begin({ id: `s${i}`, goal: `goal ${i}`, callId: `c${i}` })
  memory.steps.finish({ id: `s${i}`, callId: `c${i}`, outcome: "success" })
}

const textOfBlock = (block: unknown) => (block as { readonly text: string }).text

/** What a message says without what core put there, blanks aside. */
const words = (message: Message): string =>
  blocksOf(message)
    .filter((block) => !isTail(block))
    .map((block) => (block as { readonly text?: string }).text ?? block.type)
    .join(" ")
    .replace(/\s+/g, " ")
    .trim()

type Loose = { readonly role: string; readonly content: any }

const textsOf = ({ content }: Loose): ReadonlyArray<string> =>
  typeof content === "string" ? [content] : content.map(({ text }: { text?: string }) => text)

/** The ways in which a host keeps a message that was sent. */
const KEEPS: Readonly<Record<string, (message: any) => any>> = {
  object: (message) => message,
  json: (message) => JSON.parse(JSON.stringify(message)),
  spread: (message) => ({ ...message }),
  marked: (message) => ({
    ...message,
    content: blocksOf(message).map((b) => ({ ...b, cache_control: { type: "ephemeral" } }))
  }),
  input: (message) => ({
    ...message,
    content: blocksOf(message).map((b) => (b.type === "text" ? { ...b, type: "input_text" } : b))
  }),
  lines: (message) => ({ ...message, content: textsOf(message).join("\n") }),
  blanks: (message) => ({ ...message, content: textsOf(message).join(" ") }),
  paragraphs: (message) => ({ ...message, content: textsOf(message).join("\n\n") }),
  windows: (message) => ({
    ...message,
    content: textsOf(message).join("\n").replaceAll("\n", "\r\n")
  })
}

const isSaid = ({ role }: Message) => role === "user" || role === "toolResult"

const appended = (message: Loose, more: string, joint: string): any => ({
  ...message,
  content:
    typeof message.content === "string"
      ? message.content + joint + more
      : [...message.content, { type: "text", text: more }]
})

const said = fc.constantFrom(
  "ok",
  "Answer in JSON.",
  "Two lines.\nAnswer in JSON.",
  `A log says ${CLOSE}`,
  `${CLOSE}\nand then`,
  `${OPEN}\nand then`,
  "[Step memory: what was done up to step 9, as it was recorded.]\n- step 9: success"
)

const step = fc.record({
  said,
  keep: fc.constantFrom(...Object.keys(KEEPS)),
  /** What of the last request the host goes on with. */
  from: fc.constantFrom("all", "newest", "none"),
  more: fc.option(fc.constantFrom("and one thing more", "Answer in JSON."), { nil: undefined }),
  joint: fc.constantFrom("\n", " ", "\r\n", "\n\n"),
  forgets: fc.constantFrom("no", "no", "no", "reset", "another"),
  drops: fc.boolean(),
  byUser: fc.boolean()
})

describe("a host that keeps what was sent, whatever it does with it", () => {
  it("gathers no texts of the tail, and loses no word of its own", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 8 }), async (steps) => {
        let memory = make()
        /** What the host has, and what it should be worth. */
        let stored: ReadonlyArray<Message> = [task]
        let own: ReadonlyArray<Message> = [task]
        for (const [i, how] of steps.entries()) {
          done(memory, i)
          const next = how.byUser
            ? [answer("Well."), user(how.said)]
            : [assistant(`c${i}`), result(`c${i}`, how.said)]
          const request = deepFreeze([...stored, ...next])
          own = [...own, ...next]
          const { messages } = await memory.prepare(request)
          expect(messages.map(words)).toEqual(own.map(words))
          const tails = messages.flatMap((m, k) => (blocksOf(m).some(isTail) ? [k] : []))
          expect(tails).toEqual([messages.length - 1])
          const from = how.from === "all" ? 0 : how.from === "newest" ? stored.length : Infinity
          const keep = KEEPS[how.keep]!
          stored = request.map((m, k) => (k >= from && isSaid(m) ? keep(messages[k]) : m))
          const { more } = how
          if (more !== undefined) {
            const longer = (list: ReadonlyArray<Message>) => [
              ...list.slice(0, -1),
              appended(list.at(-1)!, more, how.joint)
            ]
            stored = longer(stored)
            own = longer(own)
          }
          if (how.drops && own.length > 4) {
            stored = stored.toSpliced(1, 2)
            own = own.toSpliced(1, 2)
          }
          if (how.forgets === "reset") await memory.reset()
          if (how.forgets === "another") {
            await memory.close()
            memory = make()
          }
        }
        await memory.close()
      }),
      { numRuns: 400 }
    )
  })

  it("what a user says in the words of a memo of one's own stays", async () => {
    let hint = "Answer in JSON."
    const memory = make(() => hint)
    await memory.prepare([user("Hello.")])
    hint = "Answer in prose."
    const history = [
      user("Hello."),
      answer("Hi."),
      user("List the late orders.\nAnswer in JSON."),
      answer("[]"),
      user([
        { type: "text", text: "And the paid ones." },
        { type: "text", text: "Answer in JSON." }
      ])
    ]
    const { messages } = await memory.prepare(deepFreeze(history))
    expect(messages.slice(0, -1)).toEqual(history.slice(0, -1))
    expect(words(messages.at(-1)!)).toBe("And the paid ones. Answer in JSON.")
    expect(textOf(messages.at(-1)!)).toContain("Answer in prose.")
    await memory.close()
  })

  it.each(["\n", " ", "\r\n"])("joined with %j, it is taken off to the letter", async (joint) => {
    const memory = make()
    const { messages } = await memory.prepare([user("Go.\n")])
    const tail = blocksOf(messages[0]!).filter(isTail).map(textOfBlock)
    const all = [
      user(["Go.\n", ...tail].join(joint)),
      user([...tail, "Stop. "].join(joint)),
      user(["Go.\n", ...tail, "Stop. "].join(joint))
    ]
    const again = await memory.prepare([...all, user("And now?")])
    expect(again.messages.slice(0, -1).map(textOf)).toEqual([
      "Go.\n",
      "Stop. ",
      `Go.\n${joint}Stop. `
    ])
    await memory.close()
  })

  it("a memo that says the lines around it is taken off whole", async () => {
    for (const hint of [`one\n${CLOSE}\ntwo`, `one\n${OPEN}\ntwo`, `[${OPEN}\n[${CLOSE}`]) {
      const memory = make(() => hint)
      const { messages } = await memory.prepare([task])
      const kept: ReadonlyArray<Message> = JSON.parse(JSON.stringify(messages))
      const again = await memory.prepare([...kept, answer("ok"), user("go on")])
      expect(words(again.messages[0]!)).toBe(words(task))
      await memory.close()
    }
  })

  it("a message that is kept with its tail is looked at once", async () => {
    const memory = make()
    const { messages } = await memory.prepare([task])
    let first: Message | undefined
    const history = [...(JSON.parse(JSON.stringify(messages)) as ReadonlyArray<Message>)]
    for (let i = 1; i <= 3; i++) {
      history.push(assistant(`c${i}`), result(`c${i}`))
      const { messages: now, report } = await memory.prepare(history.slice())
      expect(now[0]).toBe(first ?? now[0])
      first = now[0]
      expect(report.kept.messages).toBe(i === 1 ? 0 : 2 * i - 2)
    }
    await memory.close()
  })
})
