import type { Codec } from "@varve/codecs"
import { aiSdk, anthropicMessages, langChain, openAiChat, openAiResponses } from "@varve/codecs"
import { Commit, createMemory, defaultProfile, Edit, hardLimit } from "@varve/core"
import { strategy } from "@varve/core/Strategy"
import { histories } from "@varve/testkit/Histories"
import { randomStrategy, strategyPlans } from "@varve/testkit/Strategies"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { eachRequest } from "./eachRequest.ts"
import { hosts } from "./hosts.ts"
import { brief, seal } from "./seal.ts"

const history = histories({ inFlight: false, startsWithUser: true, turns: 3, steps: 4 })

/** A text at the tail that is another one in each request. */
const clock = strategy("clock", (view) => [
  Edit.proposal("it is later", [
    Edit.memo("clock", `[Reference: request ${view.messages.length}]`, { cap: 40, tail: true })
  ])
])

const CLOCK = /\[Reference: request \d+\]/g

const marks = (json: string): number =>
  json.match(/"(?:cache_control|cacheControl|prompt_cache_breakpoint)":\{/g)?.length ?? 0

/** How many cache marks a request has, whatever its shape. */
const marksIn = (request: unknown): number => marks(JSON.stringify(request))

/** True where a mark stands behind a text at the tail, inside of what holds it. */
const isMarked = (request: unknown): boolean => {
  const [, ...behind] = JSON.stringify(request).split("[End of the memo]")
  return behind.length > 0 && marks(behind.at(-1)!.split(/"(?:role|type|lc)"/)[0]!) > 0
}

type Plain = Record<string, any>
const isPlain = (m: unknown): m is Plain => Object.getPrototypeOf(m) === Object.prototype

/** A message of a host that has been kept as JSON, or had a text put behind what it says. */
const kept = (message: object, how: number): object => {
  if (!isPlain(message) || how === 0) return message
  const copy: Plain = JSON.parse(JSON.stringify(message))
  if (how === 1 || copy.role !== "user") return copy
  const more = { type: copy.content?.[0]?.type ?? "text", text: "And one thing more." }
  if (typeof copy.content === "string")
    return { ...copy, content: copy.content + [" ", "\n", "\r\n", "\n\n"][how % 4] + more.text }
  return more.type.endsWith("text") ? { ...copy, content: [...copy.content, more] } : copy
}

describe.each(hosts.map((host) => [host.name, host] as const))(
  "%s",
  (_, { codec, faults, make, startsWithUser }) => {
    it("a text at the tail keeps requests valid, and stands there once", async () => {
      await fc.assert(
        fc.asyncProperty(
          history,
          fc.nat(),
          strategyPlans({ tempers: ["sane", "greedy"], most: 2 }),
          fc.integer({ min: 100, max: 6000 }),
          async (messages, seed, plans, tokens) => {
            const memory = createMemory({
              pipeline: [clock, ...plans.map(randomStrategy), hardLimit()],
              budget: { tokens },
              profile: { ...defaultProfile, startsWithUser }
            })
            const steps = make(messages, seed)
            const all = seal(steps.flat())
            const text = JSON.stringify(all)
            await eachRequest(steps, async (request) => {
              const { messages: out, report } = await codec.prepare(memory, request)
              const isMore = marksIn(out) > marksIn(request)
              // What is too much of the host's own is too much of it still.
              const found = faults(out, request).filter((f) => isMore || !f.startsWith("marks"))
              if (isMore) found.push("more marks than the host's own")
              if (isMarked(out)) found.push("a mark on the tail")
              const shown = JSON.stringify(out).match(CLOCK)?.length ?? 0
              if (found.length > 0 || shown !== (report.tail === undefined ? 0 : 1))
                throw new Error(brief({ found, shown, out, request }))
            })
            expect(JSON.stringify(all)).toBe(text)
            await memory.close()
          }
        ),
        { numRuns: 60 }
      )
    }, 60_000)

    it("a host that sets its mark at the end of each request has none behind the tail", async () => {
      await fc.assert(
        fc.asyncProperty(history, fc.nat(), async (messages, seed) => {
          const memory = createMemory({
            pipeline: [clock],
            profile: { ...defaultProfile, startsWithUser }
          })
          await eachRequest(make(messages, seed), async (plain) => {
            const read = codec.read(plain)
            const request = seal(codec.write<object>(read, { marks: [read.length - 1] }))
            const { messages: out } = await codec.prepare(memory, request)
            const found = faults(out, request).filter((f) => !f.startsWith("marks"))
            if (marksIn(out) > marksIn(request)) found.push("one mark more")
            if (isMarked(out)) found.push("a mark on the tail")
            if (found.length > 0) throw new Error(brief({ found, out, request }))
          })
          await memory.close()
        }),
        { numRuns: 40 }
      )
    }, 60_000)

    it("a host gathers no texts of the tail, however it keeps what was sent", async () => {
      const ways = fc.array(
        fc.record({
          /** Whether it goes on with all that was sent, with the newest of it, or with its own. */
          from: fc.constantFrom("sent", "newest", "own"),
          kept: fc.nat({ max: 5 }),
          forgets: fc.boolean()
        }),
        { minLength: 1, maxLength: 5 }
      )
      await fc.assert(
        fc.asyncProperty(history, fc.nat(), ways, async (messages, seed, hows) => {
          const options = { pipeline: [clock], profile: { ...defaultProfile, startsWithUser } }
          let memory = createMemory(options)
          let before: ReadonlyArray<object> = []
          for (const [i, step] of make(messages, seed).entries()) {
            const how = hows[i % hows.length]!
            const request = [...before, ...step]
            if (request.length === 0) continue
            const { messages: out, report } = await codec.prepare(memory, request)
            const shown = JSON.stringify(out).match(CLOCK)?.length ?? 0
            if (shown !== (report.tail === undefined ? 0 : 1))
              throw new Error(brief({ shown, out, request }))
            // Repairs may have made them more or fewer: then there is no telling which are the newest.
            const newest = out.length === request.length ? out.slice(before.length) : step
            const stored =
              how.from === "sent" ? out : how.from === "newest" ? [...before, ...newest] : request
            before = (stored as ReadonlyArray<object>).map((m) => kept(m, how.kept))
            if (how.forgets) {
              await memory.close()
              memory = createMemory(options)
            }
          }
          await memory.close()
        }),
        { numRuns: 60 }
      )
    }, 60_000)
  }
)

const CACHED = { cache_control: { type: "ephemeral", ttl: "1h" } }
const MINUTES = { cache_control: { type: "ephemeral" } }
const SDK = { providerOptions: { anthropic: { cacheControl: { type: "ephemeral", ttl: "1h" } } } }
const POINT = { prompt_cache_breakpoint: { mode: "explicit" } }
const PNG = { type: "base64", media_type: "image/png", data: "iVBORw0KGgo=" }
const call = { type: "tool_use", id: "c1", name: "t", input: {} }
const given = (...content: ReadonlyArray<object>) => ({ role: "user", content })
const made = (...content: ReadonlyArray<object>) => ({ role: "assistant", content })
const resultOf = (more: object) => given({ type: "tool_result", tool_use_id: "c1", ...more })
const sdkCall = made({ type: "tool-call", toolCallId: "c1", toolName: "t", input: {} })
const sdkResult = (more: object) => ({
  role: "tool",
  content: [
    {
      type: "tool-result",
      toolCallId: "c1",
      toolName: "t",
      output: { type: "text", value: "a" },
      ...more
    }
  ]
})
const tail = (type: string) => ({ type, text: expect.stringContaining("[Reference: request") })
const text = (said: string, more: object = {}) => ({ type: "text", text: said, ...more })
const output = (...value: ReadonlyArray<object>) => ({ type: "content", value })
const held = { ...sdkResult({}).content[0], output: { type: "text", value: tail("").text } }

describe("a cache mark of the host's own stands before the tail", () => {
  const cases: ReadonlyArray<
    readonly [string, Codec<any>, ReadonlyArray<object>, ReadonlyArray<object>]
  > = [
    [
      "on the last text",
      anthropicMessages,
      [given(text("one", CACHED))],
      [given(text("one", CACHED), tail("text"))]
    ],
    [
      "on a result",
      anthropicMessages,
      [given(text("go")), made(call), resultOf({ content: "a", ...CACHED })],
      [
        given(text("go")),
        made({ ...call, ...CACHED }),
        resultOf({ content: [text("a"), tail("text")] })
      ]
    ],
    [
      "on a result, with one that lives longer inside of it",
      anthropicMessages,
      [
        given(text("go")),
        made(call, { ...call, id: "c2" }),
        given(
          { type: "tool_result", tool_use_id: "c1", content: "a" },
          { type: "tool_result", tool_use_id: "c2", content: [text("b", CACHED)], ...MINUTES }
        )
      ],
      [
        given(text("go")),
        made(call, { ...call, id: "c2" }),
        given(
          { type: "tool_result", tool_use_id: "c1", content: "a", ...CACHED },
          { type: "tool_result", tool_use_id: "c2", content: [text("b", CACHED), tail("text")] }
        )
      ]
    ],
    [
      "on a text inside of a result",
      anthropicMessages,
      [given(text("go")), made(call), resultOf({ content: [text("a", CACHED)] })],
      [given(text("go")), made(call), resultOf({ content: [text("a", CACHED), tail("text")] })]
    ],
    [
      "on an image inside of a result",
      anthropicMessages,
      [
        given(text("go")),
        made(call),
        resultOf({ content: [{ type: "image", source: PNG, ...CACHED }] })
      ],
      [
        given(text("go")),
        made(call),
        resultOf({ content: [{ type: "image", source: PNG, ...CACHED }, tail("text")] })
      ]
    ],
    ["of a part", aiSdk, [given(text("one", SDK))], [given(text("one", SDK), tail("text"))]],
    [
      "of a message",
      aiSdk,
      [{ role: "user", content: "one", ...SDK }],
      [given(text("one", SDK), tail("text"))]
    ],
    [
      "of a part that is a result",
      aiSdk,
      [given(text("go")), sdkCall, sdkResult(SDK)],
      [
        given(text("go")),
        made({ ...sdkCall.content[0], ...SDK }),
        { role: "tool", content: [held] }
      ]
    ],
    [
      "of a message with a result",
      aiSdk,
      [given(text("go")), sdkCall, { ...sdkResult({}), ...SDK }],
      [
        given(text("go")),
        made({ ...sdkCall.content[0], ...SDK }),
        { role: "tool", content: [held] }
      ]
    ],
    [
      "of an output",
      aiSdk,
      [given(text("go")), sdkCall, sdkResult({ output: { type: "text", value: "a", ...SDK } })],
      [
        given(text("go")),
        made({ ...sdkCall.content[0], ...SDK }),
        { role: "tool", content: [held] }
      ]
    ],
    [
      "of a text inside of an output",
      aiSdk,
      [given(text("go")), sdkCall, sdkResult({ output: output(text("a", SDK)) })],
      [
        given(text("go")),
        made({ ...sdkCall.content[0], ...SDK }),
        sdkResult({ output: output(text("a"), tail("text")) })
      ]
    ],
    [
      "on a part",
      openAiResponses,
      [given({ type: "input_text", text: "one", ...POINT })],
      [given({ type: "input_text", text: "one", ...POINT }, tail("input_text"))]
    ],
    [
      "on a part",
      openAiChat,
      [given(text("one", POINT))],
      [given(text("one", POINT), tail("text"))]
    ],
    [
      "on a part",
      langChain,
      [given(text("one", CACHED))],
      [given(text("one", CACHED), tail("text"))]
    ]
  ]
  it.each(cases.map(([where, codec, ...rest]) => [codec.name, where, codec, ...rest] as const))(
    "%s, %s",
    async (_, __, codec, request, sent) => {
      const memory = createMemory({ pipeline: [clock] })
      const { messages } = await codec.prepare(memory, seal(request))
      expect(
        messages.map((m: any) => ({ role: m.role ?? "user", ...m, content: m.content }))
      ).toEqual(sent.map((m) => expect.objectContaining(m)))
      expect(marksIn(messages)).toBe(marksIn(request))
      await memory.close()
    }
  )

  it("where a mark is wanted at the end, it stands before the tail", async () => {
    const request = [given(text("go")), made(text("yes")), given(text("on"))]
    for (const codec of [anthropicMessages, aiSdk, langChain, openAiChat]) {
      const memory = createMemory({ pipeline: [clock] })
      const prepared = await (codec as Codec<any>).prepare(memory, seal(request), {
        marks: (view) => [view.length - 1, view.length - 2]
      })
      const messages = prepared.messages as ReadonlyArray<object>
      // What a model said carries no mark with OpenAI.
      const at = codec === openAiChat ? 0 : 1
      expect(messages.map(marksIn)).toEqual([0, 0, 0].with(at, 1))
      await memory.close()
    }
  })

  it("a block that several stand for has one mark, on the last of them", async () => {
    const split = strategy("split", (view) => {
      const id = view.groups[0]!.members[0]!
      return [Edit.proposal("split", [Edit.replace(`${id}/0`, [text("a"), text("b")] as never)])]
    })
    for (const codec of [openAiChat, openAiResponses]) {
      const memory = createMemory({ pipeline: [split, clock], commit: Commit.immediate })
      const type = codec === openAiChat ? "text" : "input_text"
      const request = [
        { role: "system", content: [{ type, text: "Be brief.", ...POINT }] },
        given({ type, text: "go" })
      ]
      const { messages } = await (codec as Codec<any>).prepare(memory, seal(request))
      expect(marksIn(messages)).toBe(1)
      await memory.close()
    }
  })
})

describe("the Responses API's outputs", () => {
  const image_url = "data:image/png;base64,iVBORw0KGgo="
  const outputs: ReadonlyArray<readonly [string, object, object, boolean]> = [
    [
      "an image of a function",
      { type: "function_call", name: "t", arguments: "{}" },
      { type: "function_call_output", output: [{ type: "input_image", image_url }] },
      true
    ],
    [
      "a screenshot",
      { type: "computer_call", action: { type: "wait" } },
      {
        type: "computer_call_output",
        output: { type: "computer_screenshot", image_url }
      },
      false
    ],
    [
      "a patch",
      { type: "apply_patch_call", operation: {} },
      { type: "apply_patch_call_output", status: "completed", output: "done" },
      true
    ],
    [
      "a patch that failed",
      { type: "apply_patch_call", operation: {} },
      { type: "apply_patch_call_output", status: "failed", output: "conflict" },
      false
    ],
    [
      "a local shell's JSON",
      { type: "local_shell_call", id: "l1", action: { type: "exec", command: ["ls"] } },
      { type: "local_shell_call_output", id: "l1", output: '{"stdout":"a"}' },
      false
    ]
  ]
  it.each(outputs)(
    "%s: where it may hold a text, the tail stands there",
    async (_, called, output, holds) => {
      const memory = createMemory({ pipeline: [clock] })
      const request = [
        { role: "user", content: "go" },
        { ...called, call_id: "c1" },
        { ...output, call_id: "c1" }
      ]
      const { messages, report } = await openAiResponses.prepare(memory, seal(request))
      expect(report.tail?.at).toBe(holds ? 2 : 0)
      if (!holds) expect(messages[2]).toBe(request[2])
      await memory.close()
    }
  )
})
