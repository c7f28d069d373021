import { aiSdk } from "@varve/codecs/AiSdk"
import { createMemory, hardLimit, stepMemory, strategy } from "@varve/core"
import { checkValidity } from "@varve/core/Validity"
import { deepFreeze } from "@varve/testkit/Freeze"
import { pngBase64 } from "@varve/testkit/Png"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { createMiddleware } from "../src/Middleware.ts"
import { createPrepareStep } from "../src/PrepareStep.ts"

const words = fc.integer({ min: 0, max: 60 }).map((n) => "word ".repeat(n).trim())

const output = fc.oneof(
  words.map((value) => ({ type: "text", value })),
  words.map((value) => ({ type: "error-text", value })),
  words.map((text) => ({ type: "json", value: { text } })),
  fc.integer({ min: 0, max: 9 }).map((n) => ({
    type: "content",
    value: [
      { type: "text", text: `screen ${n}` },
      { type: "file", data: { type: "data", data: pngBase64(64, 64, n) }, mediaType: "image/png" }
    ]
  }))
)

/** What one step puts behind the history; a number stands for its calls' ids. */
const step = fc
  .record({ text: words, outputs: fc.array(output, { maxLength: 3 }), said: fc.option(words) })
  .map(({ outputs, said, text }) => (n: number): ReadonlyArray<object> => {
    const call = (i: number) => ({ toolCallId: `c${n}-${i}`, toolName: "look" })
    const calls = outputs.map((_, i) => ({ type: "tool-call", ...call(i), input: { i } }))
    const results = outputs.map((o, i) => ({ type: "tool-result", ...call(i), output: o }))
    return [
      { role: "assistant", content: [{ type: "text", text: text || "So." }, ...calls] },
      ...(results.length === 0 ? [] : [{ role: "tool", content: results }]),
      ...(said === null
        ? []
        : [{ role: "user", content: [{ type: "text", text: said || "Go on." }] }])
    ]
  })

const session = fc.record({
  steps: fc.array(step, { minLength: 1, maxLength: 12 }),
  tokens: fc.integer({ min: 150, max: 1500 })
})

const task = { role: "user", content: [{ type: "text", text: "Do it." }] }

const make = (tokens: number) =>
  createMemory({ pipeline: [stepMemory(), hardLimit()], budget: { tokens, images: 3 } })

/** Freezes a copy: the next request of a host that clones. */
const cloned = <A>(value: A): A => deepFreeze(structuredClone(value))

describe("laws", () => {
  it("the views are the same whether the SDK carries them on or gives the history whole, and at the model", async () => {
    await fc.assert(
      fc.asyncProperty(session, async ({ steps, tokens }) => {
        const carried = createPrepareStep(make(tokens))
        const whole = createPrepareStep(make(tokens))
        const middleware = createMiddleware(make(tokens))
        const run: Array<object> = []
        let history: ReadonlyArray<object> = deepFreeze([task])
        let carry = history
        for (let n = 0; n <= steps.length; n++) {
          const a = await carried({ messages: carry as Array<object>, steps: run })
          const b = await whole({ messages: history as Array<object>, steps: run })
          const params = deepFreeze({ prompt: cloned(history) as ReadonlyArray<any> })
          const c = await middleware.transformParams({ params })
          expect(a.messages).toEqual(b.messages)
          expect(c.prompt).toEqual(a.messages)
          expect(checkValidity(aiSdk.read(a.messages as ReadonlyArray<any>))).toEqual([])
          const more = deepFreeze(steps[n]?.(n) ?? [])
          history = deepFreeze([...history, ...more])
          carry = deepFreeze([...a.messages, ...more])
          run.push({ usage: {} })
        }
      }),
      { numRuns: 60 }
    )
  }, 60_000)

  it("never rejects and never changes what it is given, whatever the messages and the strategies", async () => {
    const odd = fc.oneof(fc.constantFrom(null, undefined, 0, "text", [], {}), fc.object())
    const part = fc.oneof(
      odd,
      fc.record({
        type: fc.constantFrom("text", "tool-call", "tool-result", "reasoning", "file", "new"),
        text: fc.oneof(words, odd),
        toolCallId: fc.constantFrom("a", "b", undefined),
        toolName: fc.constantFrom("look", 7),
        input: odd,
        output: fc.oneof(output, odd),
        data: odd
      })
    )
    const message = fc.oneof(
      odd,
      fc.record({
        role: fc.constantFrom("user", "assistant", "tool", "system", "mine"),
        content: fc.oneof(words, fc.array(part, { maxLength: 4 }), odd)
      })
    )
    const temper = fc.constantFrom("calm", "throws", "nonsense", "writes")
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(message, { maxLength: 6 }), { minLength: 1, maxLength: 4 }),
        temper,
        fc.oneof(odd, words),
        async (requests, mood, instructions) => {
          const hostile = strategy("hostile", (view) => {
            if (mood === "throws") throw new Error("no")
            if (mood === "nonsense") return [null, { kind: "replace" }] as never
            if (mood === "writes") (view.messages as Array<unknown>).length = 0
            return []
          })
          const pipeline = [hostile, stepMemory(), hardLimit()]
          const prepareStep = createPrepareStep(createMemory({ pipeline, budget: { tokens: 200 } }))
          const { transformParams } = createMiddleware(
            createMemory({ pipeline, budget: { tokens: 200 } })
          )
          const steps: Array<object> = []
          for (const messages of requests) {
            const given = deepFreeze({ messages, steps: steps.slice(), instructions })
            const out = await prepareStep(given as never)
            expect(Array.isArray(out.messages)).toBe(true)
            const made = await transformParams({
              params: deepFreeze({ prompt: messages as never })
            })
            expect(Array.isArray(made.prompt)).toBe(true)
            steps.push({ usage: instructions })
          }
        }
      ),
      { numRuns: 200 }
    )
  }, 60_000)
})
