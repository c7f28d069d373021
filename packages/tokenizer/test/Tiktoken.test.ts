import type { Counter } from "@varve/core/Counter"
import { estimateTokens } from "@varve/core/Estimate"
import type { Message } from "@varve/core/Message"
import { defaultProfile, type Profile } from "@varve/core/Profile"
import * as Effect from "effect/Effect"
import { describe, expect, it, vi } from "vitest"
import { tiktokenCounter, type TiktokenOptions } from "../src/Tiktoken.ts"
import { tiktoken } from "./tiktoken.ts"

const gpt: Profile = {
  ...defaultProfile,
  model: "openai/gpt-5.1",
  image: { rule: "tiles", base: 70, tile: 140 },
  encoding: "o200k_base",
  ratio: 1
}
const claude: Profile = { ...gpt, model: "anthropic/claude-opus-5.5", ratio: 1.6 }

const using = <A>(
  profile: Profile,
  f: (counter: Counter) => A | Promise<A>,
  options: TiktokenOptions = {}
): Promise<A> =>
  Effect.runPromise(
    Effect.scoped(
      Effect.gen(function* () {
        const counter = yield* tiktokenCounter(options).start(profile)
        yield* counter.ready!
        return yield* Effect.promise(async () => f(counter))
      })
    )
  )

/** A PNG header of 1920 x 1080 px. */
const png = Buffer.from(
  "89504e470d0a1a0a0000000d49484452000007800000043808020000000000000000",
  "hex"
).toString("base64")
const image = { type: "image", data: png, mimeType: "image/png" } as const
const user = (text: string): Message => ({ role: "user", content: [{ type: "text", text }] })

describe("a counter", () => {
  it("counts text as tiktoken does", () =>
    using(gpt, (counter) => {
      const real = tiktoken("o200k_base")
      for (const text of ["", "hello", "<|endoftext|>", "it's 12345", "字 😀 \ud800"]) {
        expect(counter.text(text)).toBe(real.count(text))
      }
      real.free()
    }))
  it("counts all of a request: text, thinking, calls, results, images, system text and tools", () =>
    using(gpt, (counter) => {
      const args = { path: "/tmp/a.txt", lines: [1, 2] }
      const result = {
        role: "toolResult",
        toolCallId: "1",
        toolName: "read",
        isError: false
      } as const
      const messages: ReadonlyArray<Message> = [
        user("Read the file."),
        {
          role: "assistant",
          content: [
            { type: "thinking", thinking: "First, the file." },
            { type: "toolCall", id: "1", name: "read", arguments: args }
          ]
        },
        { ...result, content: [{ type: "text", text: "one\ntwo" }, image] }
      ]
      const { text } = counter
      const own =
        4 +
        text("Read the file.") +
        (4 + text("First, the file.") + 12 + text("read") + text(JSON.stringify(args))) +
        (10 + text("one\ntwo") + 910)
      expect(counter.request({ messages })).toEqual({ tokens: own, fixed: 910, source: "counted" })

      const tools = [
        {
          name: "read",
          description: "Reads.",
          parameters: { properties: { path: { type: "string" } } }
        }
      ]
      const withAll = counter.request({ messages, system: "You are an agent.", tools })
      const definition = 12 + 7 + text("read:Reads") + 3 + 3 + text("path:string:")
      expect(withAll.tokens - own).toBe(text("You are an agent.") + 4 + definition)
    }))
  it("a Claude is estimated, its tools bring a prompt that no ratio scales", () =>
    using(claude, (counter) => {
      const tools = [{ name: "read", input_schema: {} }]
      const { fixed, source, tokens } = counter.request({ messages: [], tools })
      expect({ fixed, source }).toEqual({ fixed: 286, source: "estimated" })
      expect(tokens).toBe(286 + counter.text(JSON.stringify(tools[0])))
    }))
  it("images of all shapes count by their pixels, never as text", () =>
    using(gpt, (counter) => {
      const url = `data:image/png;base64,${png}`
      const shapes: ReadonlyArray<unknown> = [
        image,
        { type: "image", source: { type: "base64", media_type: "image/png", data: png } },
        { type: "image_url", image_url: { url } },
        { type: "input_image", image_url: url },
        { type: "tool_result", content: [image] }
      ]
      const counts = shapes.map((shape) =>
        counter.message({ role: "user", content: [shape] } as unknown as Message)
      )
      expect(counts).toEqual([914, 914, 914, 914, 924])
      const low = { type: "image_url", image_url: { url, detail: "low" } }
      expect(counter.message({ role: "user", content: [low] } as unknown as Message)).toBe(74)
    }))
  it.each([
    ["the same message", (message: Message) => message],
    ["a clone of it", (message: Message) => structuredClone(message)]
  ])("a message is cut into pieces once in its life: %s", (name, again) =>
    using(gpt, (counter) => {
      const message = user(`Some longer text of ${name}. `.repeat(100))
      const read = vi.spyOn(RegExp.prototype, "test")
      const first = counter.message(message)
      expect(read.mock.calls.length).toBeGreaterThan(100)
      read.mockClear()
      expect(counter.message(again(message))).toBe(first)
      const calls = read.mock.calls.length
      read.mockRestore()
      expect(calls).toBe(0)
    })
  )
  it("says that a count is an estimate as soon as a run was cut, for good and for that message only", () =>
    using(gpt, (counter) => {
      const cut = user("a".repeat(50_000))
      const plain = user("plain")
      const source = (...messages: ReadonlyArray<Message>) => counter.request({ messages }).source
      expect(source(plain)).toBe("counted")
      expect(source(plain, cut)).toBe("estimated")
      expect(source(cut)).toBe("estimated")
      expect(source(structuredClone(cut))).toBe("estimated")
      expect(source(plain)).toBe("counted")
      expect(counter.request({ messages: [], system: "a".repeat(50_000) }).source).toBe("estimated")
      expect(
        source({ role: "user", content: [{ type: "image", data: "", mimeType: "image/png" }] })
      ).toBe("estimated")
      expect(source({ role: "user", content: [image] })).toBe("counted")
    }))
  it("other files cost a figure by their size, not their base64 as text", () =>
    using(gpt, (counter) => {
      const data = Buffer.alloc(90_000, 7).toString("base64")
      const file = { type: "file", mediaType: "application/pdf", data }
      const message = { role: "user", content: [file] } as unknown as Message
      expect(counter.message(message)).toBeGreaterThan(3 * 1600)
      expect(counter.message(message)).toBeLessThan(3 * 1600 + 50)
      expect(counter.request({ messages: [message] }).source).toBe("estimated")
    }))
  it("odd messages never throw", () =>
    using(gpt, (counter) => {
      const loop: Record<string, unknown> = { type: "odd" }
      loop.loop = loop
      const odd = [
        null,
        5,
        "text",
        {},
        { role: "user" },
        { role: "user", content: null },
        { content: [null, 7, {}, loop] }
      ]
      for (const message of odd) {
        expect(Number.isFinite(counter.message(message as unknown as Message))).toBe(true)
      }
      expect(
        Number.isFinite(counter.request({ messages: odd as never, tools: [null, loop] }).tokens)
      ).toBe(true)
    }))
})

describe("before the encoding is loaded", () => {
  it("counts are estimates that are not remembered", () =>
    Effect.runPromise(
      Effect.scoped(
        Effect.gen(function* () {
          const counter = yield* tiktokenCounter().start({
            ...gpt,
            model: "gpt-3.5-turbo",
            encoding: "cl100k_base"
          })
          const text = "Estimates of this are not what the tokenizer counts: ábc dèf."
          const message = user(text)
          expect(counter.request({ messages: [message] })).toEqual({
            tokens: estimateTokens(text) + 4,
            fixed: 0,
            source: "estimated"
          })
          yield* counter.ready!
          const real = tiktoken("cl100k_base")
          expect(counter.request({ messages: [message] })).toEqual({
            tokens: real.count(text) + 4,
            fixed: 0,
            source: "counted"
          })
          real.free()
        })
      )
    ))
  it("after its scope, the counter still answers, with estimates", async () => {
    const counter = await using(gpt, (c) => c)
    expect(counter.text("hello there")).toBe(estimateTokens("hello there"))
  })
})

describe("the encoding", () => {
  const warnings: Array<string> = []
  const named = (profile: Profile, options: TiktokenOptions = {}) =>
    using(profile, (counter) => counter.name, { onWarning: (w) => warnings.push(w), ...options })
  it.each([
    ["the profile's", gpt, {}, "tiktoken o200k_base"],
    [
      "the user's, before the profile's",
      gpt,
      { encodings: { "gpt-5": "cl100k_base" } },
      "tiktoken cl100k_base"
    ],
    ["that of the name", { ...defaultProfile, model: "gpt-4-turbo" }, {}, "tiktoken cl100k_base"]
  ] as const)("%s", async (_, profile, options, name) => {
    warnings.length = 0
    expect(await named(profile, options)).toBe(name)
    expect(warnings).toEqual([])
  })
  it("one that tiktoken doesn't have is said", async () => {
    warnings.length = 0
    expect(await named({ ...gpt, encoding: "o300k" })).toBe("tiktoken o200k_base")
    expect(warnings).toEqual(['tiktoken has no encoding "o300k": counted with o200k_base'])
  })
  it("an unknown model is said once on the console", async () => {
    const warn = vi.spyOn(console, "warn").mockImplementation(() => {})
    const odd = { ...defaultProfile, model: "odd-model-1" }
    await using(odd, () => {})
    await using(odd, (counter) =>
      expect(counter.request({ messages: [] }).source).toBe("estimated")
    )
    expect(warn.mock.calls).toEqual([
      ['@varve/tokenizer: No encoding is known for "odd-model-1": counted with o200k_base']
    ])
    warn.mockRestore()
  })
  it("a wrong option is refused with its path", () => {
    expect(() => tiktokenCounter({ encodings: { "gpt-": "o300k" as never } })).toThrow(
      "tiktokenCounter.encodings"
    )
    expect(() => tiktokenCounter({ encoding: "o200k_base" } as never)).toThrow(
      "tiktokenCounter.encoding"
    )
  })
})
