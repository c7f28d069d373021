// The tokenizer's speed: cold start, fresh text beside tiktoken alone, a second count, and the worst texts.
import { type Message, visitBlocks } from "@varve/core/Message"
import { defaultProfile } from "@varve/core/Profile"
import { tiktokenCounter } from "@varve/tokenizer/Tiktoken"
import { requireData } from "@varve-examples/session-readers/Data"
import { sessions } from "@varve-examples/session-readers/Sessions"
import * as Effect from "effect/Effect"
import { get_encoding } from "tiktoken"

const profile = { ...defaultProfile, model: "openai/gpt-5.5" }

const timed = <A>(run: () => A): { readonly ms: number; readonly value: A } => {
  const start = performance.now()
  const value = run()
  return { ms: performance.now() - start, value }
}

/** A generator of numbers below 1, the same in every run. */
const random = (() => {
  let state = 42
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0
    return (state >>> 0) / 2 ** 32
  }
})()

const from = (units: string, length = 100_000): string => {
  const all = [...units]
  let out = ""
  while (out.length < length) out += all[Math.floor(random() * all.length)]
  return out.slice(0, length)
}

const range = (first: number, count: number): string =>
  String.fromCodePoint(...Array.from({ length: count }, (_, i) => first + i))

const letters = "abcdefghijklmnopqrstuvwxyz"
const worst: Readonly<Record<string, string>> = {
  "one letter": "a".repeat(100_000),
  spaces: " ".repeat(100_000),
  "line breaks": "\n".repeat(100_000),
  "random letters": from(letters),
  base64: from(`${letters + letters.toUpperCase()}0123456789+/`),
  hex: from("0123456789abcdef"),
  "minified code": from("(){};=.,+abcfnrtu01"),
  Chinese: from(range(0x4e00, 3000)),
  Hiragana: from(range(0x3041, 80)),
  Hangul: from(range(0xac00, 5000)),
  Georgian: from(range(0x10d0, 33)),
  Khmer: from(range(0x1780, 40)),
  emoji: from(range(0x1f600, 60)),
  "lone surrogates": "\ud800".repeat(100_000),
  "combining marks": "\u0301".repeat(100_000),
  "words of 1 000 letters": Array.from({ length: 100 }, () => from(letters, 999)).join(" ")
}

const start = performance.now()
const memory = process.memoryUsage()
const program = Effect.gen(function* () {
  const counter = yield* tiktokenCounter().start(profile)
  yield* counter.ready ?? Effect.void
  const { external, heapUsed } = process.memoryUsage()
  console.log(
    `Cold start of o200k_base: ${(performance.now() - start).toFixed(0)} ms, ` +
      `${((external + heapUsed - memory.external - memory.heapUsed) / 1e6).toFixed(0)} MB`
  )
  console.log("Texts of 100 000 characters")
  console.table(
    Object.entries(worst).map(([text, value]) => {
      const { ms, value: tokens } = timed(() => counter.text(value))
      return { text, ms: Number(ms.toFixed(1)), tokens }
    })
  )

  const few = Array.from({ length: 10_000 }, (_, i): Message => ({
    role: "user",
    content: [{ type: "text", text: `Step ${i}. ${from(letters + "    ", 300)}` }]
  }))
  const clones = structuredClone(few)
  const count = (messages: ReadonlyArray<Message>) => timed(() => counter.request({ messages })).ms
  const [first, second, cloned] = [count(few), count(few), count(clones)]
  console.log(
    `10 000 messages of 310 characters: first ${first.toFixed(1)} ms, again ${second.toFixed(2)} ms ` +
      `(${((100 * second) / first).toFixed(2)} %), clones of them ${cloned.toFixed(1)} ms`
  )
})
await Effect.runPromise(Effect.scoped(program))

if (requireData("the benchmark of the tokenizer on real texts")) {
  const texts: Array<string> = []
  for (const entry of sessions()) {
    for (const message of entry.read().messages) {
      visitBlocks(message, (block) => {
        if (block.type === "text") texts.push(block.text)
        else if (block.type === "thinking") texts.push(block.thinking)
        else if (block.type === "toolCall") texts.push(JSON.stringify(block.arguments))
      })
    }
  }
  const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0)
  const speed = (count: (text: string) => number) => {
    const { ms, value } = timed(() => texts.reduce((sum, text) => sum + count(text), 0))
    return { tokens: value, ms: Math.round(ms), "MB/s": Number((bytes / ms / 1000).toFixed(1)) }
  }
  const encoding = get_encoding("o200k_base")
  const fresh = Effect.gen(function* () {
    const counter = yield* tiktokenCounter().start(profile)
    yield* counter.ready ?? Effect.void
    console.log(`${texts.length} texts of real sessions, ${(bytes / 1e6).toFixed(1)} MB`)
    console.table({
      tiktoken: speed((text) => encoding.encode_ordinary(text).length),
      "varve, fresh": speed(counter.text),
      "varve, again": speed(counter.text)
    })
  })
  await Effect.runPromise(Effect.scoped(fresh))
  encoding.free()
}
