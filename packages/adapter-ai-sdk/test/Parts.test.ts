import { createMemory, hardLimit } from "@varve/core"
import { imageOf, visitBlocks } from "@varve/core/Message"
import type { Message } from "@varve/core/Message"
import { profile } from "@varve/profiles"
import { screenshots } from "@varve/strategy-screenshot-prune"
import { pngBase64 } from "@varve/testkit/Png"
import { describe, expect, it } from "vitest"
import type { AdapterOptions } from "../src/AdapterOptions.ts"
import { createMiddleware } from "../src/Middleware.ts"
import type { Part, Tool } from "./hosts.ts"
import { answers, calls, click, hosts, wireFaults } from "./hosts.ts"
import { spied } from "./spied.ts"

const shot = (n: number) => pngBase64(1280, 720, n, 2000)

const countImages = (messages: ReadonlyArray<Message>): number => {
  let count = 0
  for (const message of messages)
    visitBlocks(message, (block) => void (imageOf(block) !== undefined && count++))
  return count
}

const bytes = (data: string) => Uint8Array.from(Buffer.from(data, "base64"))

/** The forms that an image takes in the result of a tool. */
const forms = {
  "image-data": (data: string) => ({ type: "image-data", data, mediaType: "image/png" }),
  "file-data": (data: string) => ({ type: "file-data", data, mediaType: "image/png" }),
  "image-url": (data: string) => ({ type: "image-url", url: `data:image/png;base64,${data}` }),
  media: (data: string) => ({ type: "media", data, mediaType: "image/png" }),
  "file with data": (data: string) => ({
    type: "file",
    data: { type: "data", data },
    mediaType: "image/png"
  }),
  "file with bytes": (data: string) => ({
    type: "file",
    data: { type: "data", data: bytes(data) },
    mediaType: "image/png"
  })
}

/** Images that the provider keeps: each version with the forms that it has. */
const references = (version: 6 | 7, n: number): ReadonlyArray<object> => {
  const reference = { mock: `file-${n}` }
  const id = { type: "image-file-id", fileId: `file-${n}` }
  if (version === 6) return [id]
  return [
    { type: "image-file-id", fileId: reference },
    { type: "image-file-reference", providerReference: reference },
    { type: "file", data: { type: "reference", reference }, mediaType: "image/png" }
  ]
}

const parts = (prompt: ReadonlyArray<{ readonly content: any }>): ReadonlyArray<Part> =>
  prompt.flatMap(({ content }) => (Array.isArray(content) ? content : []))

describe.each(hosts.map((host) => [host.name, host] as const))("%s", (_, host) => {
  it("images that the provider keeps are counted, and leave when they are old", async () => {
    for (const at of references(host.version, 0).keys()) {
      let n = 0
      const look: Tool = {
        name: "look",
        execute: () => `screen ${++n}`,
        output: () => ({ type: "content", value: [references(host.version, n)[at]!] })
      }
      const { memory } = spied({ pipeline: [hardLimit()], budget: { images: 2 } })
      const { requests } = await host.run({
        memory,
        tools: [look],
        answer: answers(...Array.from({ length: 6 }, () => calls({ name: "look" })))
      })
      for (const { prompt } of requests)
        expect(JSON.stringify(prompt).match(/"file-\d"/g)?.length ?? 0).toBeLessThanOrEqual(2)
      expect(JSON.stringify(requests.at(-1)!.prompt)).toContain(`"file-6"`)
    }
  })

  it.each(Object.keys(forms) as Array<keyof typeof forms>)(
    "a screenshot as %s in a result is counted, and leaves when it is old",
    async (form) => {
      // Parts with a file inside came with version 7, and `media` left with it.
      if (host.version === 6 ? form.startsWith("file with") : form === "media") return
      let n = 0
      const look: Tool = {
        name: "look",
        execute: () => `screen ${++n}`,
        output: (text) => ({
          type: "content",
          value: [{ type: "text", text }, forms[form](shot(n))]
        })
      }
      const { memory, events } = spied({
        pipeline: [screenshots({ keep: 1 }), hardLimit()],
        budget: { images: 2 }
      })
      const { requests } = await host.run({
        memory,
        tools: [look],
        answer: answers(...Array.from({ length: 6 }, () => calls({ name: "look" })))
      })
      const before = events.flatMap((e) => (e.type === "prepared" ? [e.report.before.images] : []))
      expect(Math.max(...before)).toBeGreaterThan(2)
      for (const request of requests) {
        expect(countImages(request.messages)).toBeLessThanOrEqual(2)
        expect(wireFaults(request)).toEqual([])
      }
      const last = requests.at(-1)!
      expect(countImages(last.messages)).toBeGreaterThan(0)
      const results = parts(last.prompt).filter(({ type }) => type === "tool-result")
      expect(results.map(({ output }) => output.type)).toEqual(Array(6).fill("content"))
      expect(results.map(({ output }) => output.value[0].text)).toEqual(
        [1, 2, 3, 4, 5, 6].map((i) => `screen ${i}`)
      )
      expect(results[0]!["output"].value[1].type).toBe("text")
      expect(results[5]!["output"].value[1]).toEqual(
        parts(requests.find((r) => r.prompt.length === last.prompt.length)!.prompt)
          .filter(({ type }) => type === "tool-result")
          .at(-1)!["output"].value[1]
      )
    }
  )

  it("pictures of the user are counted, the older ones leave, and the text beside them stays", async () => {
    const { memory } = spied({ pipeline: [hardLimit()], budget: { images: 1 } })
    const show = (n: number) => ({
      role: "user",
      content: [
        { type: "text", text: `Picture ${n}.` },
        { type: "file", data: shot(n), mediaType: "image/png" }
      ]
    })
    const { requests } = await host.run({
      memory,
      messages: [show(1), { role: "assistant", content: "Seen." }, show(2)],
      answer: answers()
    })
    const [request] = requests
    expect(countImages(request!.messages)).toBe(1)
    expect(parts(request!.prompt).flatMap(({ text }) => text ?? [])).toEqual(
      expect.arrayContaining(["Picture 1.", "Seen.", "Picture 2."])
    )
    expect(request!.prompt.at(-1)!.content[1].type).toBe("file")
  })

  it("marks stand where the memory says, and only where asked for", async () => {
    const marked = async (options: AdapterOptions) => {
      const { memory } = spied({ profile: profile("anthropic/claude-opus-5.5") })
      const { requests } = await host.run({
        memory,
        options,
        tools: [click],
        answer: answers(...Array.from({ length: 3 }, () => calls({ name: "click" })))
      })
      // A message that is one text carries its mark itself.
      return requests.map(({ prompt }) =>
        prompt.flatMap((message, i) =>
          JSON.stringify(message).includes('"cacheControl":{"type":"ephemeral"}') ? [i] : []
        )
      )
    }
    for (const options of [{}, { marks: false }]) {
      expect(await marked(options)).toEqual([[], [], [], []])
    }
    const places = await marked({ marks: true })
    for (const [n, at] of places.entries()) {
      expect(at.length).toBeGreaterThan(0)
      expect(at.length).toBeLessThanOrEqual(4)
      // The task, and behind it the memory's text and two messages for each step.
      expect(at.at(-1)).toBe(n === 0 ? 0 : 1 + 2 * n)
    }
  })

  it("marks leave room for the one of the whole request, and live as long", async () => {
    const { memory } = spied({ profile: profile("anthropic/claude-opus-5.5") })
    const control = { type: "ephemeral", ttl: "1h" }
    const messages = Array.from({ length: 30 }, (_, i) => ({
      role: i % 2 === 0 ? ("user" as const) : ("assistant" as const),
      content: [{ type: "text" as const, text: `Message ${i}.` }]
    }))
    const { transformParams } = createMiddleware(memory, { marks: true })
    const { prompt } = await transformParams({
      params: { prompt: messages, providerOptions: { anthropic: { cacheControl: control } } }
    })
    const marks = JSON.stringify(prompt).match(/"cacheControl":\{[^}]*\}/g) ?? []
    expect(marks.length).toBeGreaterThan(0)
    expect(marks.length).toBeLessThanOrEqual(3)
    expect(new Set(marks)).toEqual(new Set([`"cacheControl":${JSON.stringify(control)}`]))
  })

  it("reasoning goes out as it came in, with what the provider signed", async () => {
    const { memory } = spied()
    const { requests } = await host.run({
      memory,
      tools: [click],
      answer: answers({ reasoning: "Hm.", text: "I click.", ...calls({ name: "click" }) })
    })
    const answer = requests[1]!.prompt.find(({ role }) => role === "assistant")!
    expect(answer.content.map(({ type }: Part) => type)).toEqual(["reasoning", "text", "tool-call"])
    expect(answer.content[0]).toMatchObject({
      text: "Hm.",
      providerOptions: { mock: { signature: "s" } }
    })
  })

  it("what it doesn't know, and what a provider ran, stays in place", async () => {
    const { memory } = spied()
    const ran = { toolCallId: "p", toolName: "search" }
    const options = { mock: { cite: "x" } }
    const said = [
      { type: "text", text: "I searched.", providerOptions: options },
      { type: "tool-call", ...ran, input: { q: "x" }, providerExecuted: true },
      { type: "tool-result", ...ran, output: { type: "json", value: [1] } },
      ...(host.version === 7
        ? [{ type: "custom", kind: "mock.thing", providerOptions: options }]
        : []),
      { type: "text", text: "Found." }
    ]
    const { requests } = await host.run({
      memory,
      messages: [
        { role: "user", content: "Search." },
        { role: "assistant", content: said },
        { role: "user", content: "And now?", providerOptions: options }
      ],
      answer: answers()
    })
    const answer = requests[0]!.prompt.find(({ role }) => role === "assistant")!
    expect(answer.content.map(({ type }: Part) => type)).toEqual(said.map(({ type }) => type))
    expect(answer.content).toMatchObject(said)
    expect(requests[0]!.prompt.at(-1)).toMatchObject({ role: "user", providerOptions: options })
  })

  it("the same session is pruned to the same pictures in every host", async () => {
    const shots = Array.from({ length: 12 }, (_, n) => shot(n))
    const make = () =>
      createMemory({ pipeline: [screenshots({ keep: 2 }), hardLimit()], budget: { images: 5 } })
    const pictures = (messages: ReadonlyArray<Message>): ReadonlyArray<number> => {
      const found: Array<number> = []
      for (const message of messages)
        visitBlocks(message, (block) => {
          const data = imageOf(block)?.data
          if (data !== undefined) found.push(shots.indexOf(data))
        })
      return found
    }

    // The session in core's own shape, which is pi's.
    const plain = make()
    const history: Array<unknown> = [{ role: "user", content: "Look twelve times." }]
    const expected = [pictures((await plain.prepare(history)).messages as ReadonlyArray<Message>)]
    for (const [n, data] of shots.entries()) {
      const id = `look-${n}`
      history.push(
        {
          role: "assistant",
          content: [
            { type: "text", text: `Look ${n}.` },
            { type: "toolCall", id, name: "look", arguments: { n } }
          ]
        },
        {
          role: "toolResult",
          toolCallId: id,
          toolName: "look",
          isError: false,
          content: [
            { type: "text", text: `screen ${n}` },
            { type: "image", data, mimeType: "image/png" }
          ]
        }
      )
      const { messages } = await plain.prepare(history)
      expected.push(pictures(messages as ReadonlyArray<Message>))
    }

    const { requests } = await host.run({
      memory: make(),
      prompt: "Look twelve times.",
      tools: [
        {
          name: "look",
          execute: (args) => args.n,
          output: (n) => ({
            type: "content",
            value: [{ type: "text", text: `screen ${n}` }, forms["image-data"](shots[n]!)]
          })
        }
      ],
      answer: (_, n) =>
        n < 12
          ? {
              text: `Look ${n}.`,
              calls: [{ name: "look", args: { n }, id: `look-${n}` }],
              tokens: 0
            }
          : { text: "Done.", tokens: 0 }
    })
    expect(requests.map(({ messages }) => pictures(messages))).toEqual(expected)
    expect(expected.at(-1)!.at(-1)).toBe(11)
    expect(expected.at(-1)!.length).toBeLessThanOrEqual(5)
  })
})
