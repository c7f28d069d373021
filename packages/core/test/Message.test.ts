import type { Message } from "@varve/core/Message"
import {
  blockAt,
  blockId,
  blocksOf,
  imageOf,
  isBlank,
  replaceBlocks,
  splitBlockId,
  textOf,
  visitBlocks,
  withImage
} from "@varve/core/Message"
import { deepFreeze } from "@varve/testkit/Freeze"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { odd, text, user } from "./fixtures/history.ts"

const URL = "https://example.org/a.png"
const inline = { data: "AAAA", url: undefined, mimeType: "image/png", detail: undefined }

/** Every shape in which hosts keep an image, with what it says. */
const shapes: ReadonlyArray<readonly [string, unknown, Partial<ReturnType<typeof imageOf>>]> = [
  ["pi", { type: "image", data: "AAAA", mimeType: "image/png" }, inline],
  [
    "pi with a data URL",
    { type: "image", data: "data:image/png;base64,AAAA", mimeType: "image/png" },
    inline
  ],
  [
    "Anthropic",
    { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } },
    inline
  ],
  ["Anthropic by URL", { type: "image", source: { type: "url", url: URL } }, { url: URL }],
  ["Anthropic by file", { type: "image", source: { type: "file", file_id: "file_1" } }, {}],
  [
    "OpenAI chat",
    { type: "image_url", image_url: { url: "data:image/png;base64,AAAA", detail: "low" } },
    { ...inline, detail: "low" }
  ],
  ["OpenAI chat by URL", { type: "image_url", image_url: { url: URL } }, { url: URL }],
  ["OpenAI chat, short", { type: "image_url", image_url: "data:image/png;base64,AAAA" }, inline],
  [
    "OpenAI responses",
    { type: "input_image", image_url: "data:image/png;base64,AAAA", detail: "high" },
    { ...inline, detail: "high" }
  ],
  [
    "OpenAI responses by file",
    { type: "input_image", file_id: "file-1", detail: "high" },
    { detail: "high" }
  ],
  ["AI SDK image", { type: "image", image: "AAAA", mediaType: "image/png" }, inline],
  ["AI SDK image as data URL", { type: "image", image: "data:image/png;base64,AAAA" }, inline],
  ["AI SDK image by URL", { type: "image", image: URL }, { url: URL }],
  [
    "LangChain by URL",
    { type: "image", url: URL, mimeType: "image/png" },
    { url: URL, mimeType: "image/png" }
  ],
  ["LangChain by data URL", { type: "image", url: "data:image/png;base64,AAAA" }, inline],
  ["AI SDK file", { type: "file", data: "AAAA", mediaType: "image/png" }, inline],
  [
    "AI SDK file by URL",
    { type: "file", data: URL, mediaType: "image/png" },
    { url: URL, mimeType: "image/png" }
  ],
  ["AI SDK media of a result", { type: "media", data: "AAAA", mediaType: "image/png" }, inline],
  ["AI SDK image data", { type: "image-data", data: "AAAA", mediaType: "image/png" }, inline],
  ["AI SDK image by reference", { type: "image", image: { openai: "file-1" } }, {}],
  [
    "AI SDK file by reference",
    { type: "file", data: { openai: "file-1" }, mediaType: "image" },
    {}
  ],
  [
    "AI SDK file by tagged reference",
    {
      type: "file",
      data: { type: "reference", reference: { openai: "file-1" } },
      mediaType: "image/png"
    },
    {}
  ]
]

/** Parts that can do nothing but name an image of the provider. */
const named: ReadonlyArray<readonly [string, unknown]> = [
  ["file id", { type: "image-file-id", fileId: "file-1" }],
  ["file ids", { type: "image-file-id", fileId: { openai: "file-1" } }],
  ["reference", { type: "image-file-reference", providerReference: { openai: "file-1" } }]
]

describe("an image", () => {
  it.each(shapes)("is read from the shape of %s", (_, block, says) => {
    const nothing = { data: undefined, url: undefined, mimeType: undefined, detail: undefined }
    expect(imageOf(block)).toEqual({ ...nothing, ...says })
  })

  it.each(shapes)("is replaced in the shape of %s", (_, block) => {
    const frozen = deepFreeze(block) as Record<string, unknown>
    const next = withImage(frozen, { data: "BBBB", mimeType: "image/webp" })
    expect(imageOf(next)).toMatchObject({ data: "BBBB", mimeType: "image/webp", url: undefined })
    expect(next.type).toBe(frozen["type"])
    expect(imageOf(next)?.detail).toBe(imageOf(block)?.detail)
    expect(next).not.toHaveProperty("file_id")
    const fresh = new Set(["mediaType", "mimeType", "image_url"])
    const keys = Object.keys(next).filter((key) => !fresh.has(key))
    for (const key of keys) expect(Object.keys(frozen)).toContain(key)
  })

  it.each(named)("is read from a result's %s, and replaced by its data", (_, block) => {
    const frozen = deepFreeze(block)
    expect(imageOf(frozen)).toEqual(imageOf({ type: "image", source: { file_id: "file_1" } }))
    expect(withImage(frozen, { data: "BBBB", mimeType: "image/webp" })).toEqual({
      type: "image-data",
      data: "BBBB",
      mediaType: "image/webp"
    })
  })

  it("is nothing else than an image", () => {
    for (const block of [
      undefined,
      null,
      "image",
      [],
      {},
      { type: "text", text: "data:image/png;base64,AAAA" },
      { type: "file", data: "AAAA", mediaType: "application/pdf" },
      { type: "file", data: { openai: "file-1" }, mediaType: "application/pdf" },
      { type: "file", data: { type: "text", text: "a" }, mediaType: "image/svg+xml" },
      { type: "file", data: new Uint8Array(3), mediaType: "image/png" },
      { type: "file", data: {}, mediaType: "image/png" },
      { type: "file-id", fileId: "file-1" },
      { type: "image" },
      { type: "image", source: null },
      { type: "image", source: { type: "base64" } },
      { type: "image_url", image_url: 3 },
      { type: "input_file", file_id: "file-1" }
    ]) {
      expect(imageOf(block)).toBeUndefined()
    }
  })

  it("takes the place of what was none as an image of pi's shape", () => {
    const plain = { type: "image", data: "BBBB", mimeType: "image/webp" }
    for (const block of [null, "x", text("a"), { type: "image" }])
      expect(withImage(block, { data: "BBBB", mimeType: "image/webp" })).toEqual(plain)
  })
})

const nested = deepFreeze({
  role: "user",
  content: [
    text("before"),
    {
      type: "tool_result",
      tool_use_id: "c1",
      content: [text("inside"), { type: "image", source: { type: "url", url: URL } }]
    },
    {
      type: "tool-result",
      toolCallId: "c2",
      output: { type: "content", value: [text("deep"), { type: "media", data: "AAAA" }] }
    }
  ]
}) as unknown as Message

describe("the blocks of a message", () => {
  it("are visited with nested ones, in order, by path", () => {
    const seen: Array<string> = []
    visitBlocks(nested, (block, path) => seen.push(`${path} ${block.type}`))
    expect(seen).toEqual([
      "0 text",
      "1 tool_result",
      "1.0 text",
      "1.1 image",
      "2 tool-result",
      "2.0 text",
      "2.1 media"
    ])
    visitBlocks(nested, (block, path) => expect(blockAt(nested, path)).toBe(block))
  })

  it("of a plain string are one text; of nothing, none", () => {
    expect(blocksOf({ content: "hi" })).toEqual([text("hi")])
    for (const content of ["", undefined, null, 3, {}]) expect(blocksOf({ content })).toEqual([])
  })

  it("are passed over where they are odd, however deep", () => {
    const holes = { content: [null, 3, "x", { type: 1 }, { type: "text", text: "a" }, undefined] }
    const seen: Array<string> = []
    visitBlocks(holes, (_, path) => seen.push(path))
    expect(seen).toEqual(["4"])
    let deep: unknown = text("bottom")
    for (let i = 0; i < 1000; i++) deep = { type: "box", content: [deep] }
    expect(() => visitBlocks({ content: [deep] }, () => undefined)).not.toThrow()
    expect(blockAt({ content: [null] }, "0")).toBeUndefined()
    expect(blockAt({ content: "hi" }, "1")).toBeUndefined()
  })

  it("have ids that name message and path, whatever the host's ids are", () => {
    fc.assert(
      fc.property(fc.string(), fc.array(fc.nat(9), { minLength: 1 }), (id, path) => {
        expect(splitBlockId(blockId(id, path.join(".")))).toEqual([id, path.join(".")])
      })
    )
  })
})

describe("replaced blocks", () => {
  it("leave all else the same objects, nested ones too", () => {
    const next = replaceBlocks(nested, new Map([["1.1", [text("[image]")]]]))
    const [before, after] = [blocksOf(nested), blocksOf(next)]
    expect(after[0]).toBe(before[0])
    expect(after[2]).toBe(before[2])
    expect(after[1]).toMatchObject({ type: "tool_result", tool_use_id: "c1" })
    expect(blockAt(next, "1.0")).toBe(blockAt(nested, "1.0"))
    expect(blockAt(next, "1.1")).toEqual(text("[image]"))
  })

  it("keep the shape around what an AI SDK result holds", () => {
    const next = replaceBlocks(nested, new Map([["2.1", []]]))
    expect(blocksOf(next)[2]).toEqual({
      type: "tool-result",
      toolCallId: "c2",
      output: { type: "content", value: [text("deep")] }
    })
  })

  it("may be several in the place of one, or none", () => {
    const message = user([text("a"), text("b"), text("c")])
    const next = replaceBlocks(
      message,
      new Map([
        ["0", []],
        ["2", [text("x"), text("y")]]
      ])
    )
    expect(blocksOf(next)).toEqual([text("b"), text("x"), text("y")])
  })

  it("keep every other field, and a string where one text takes its place", () => {
    const message = user("long text", { id: "m1", timestamp: 7 })
    expect(replaceBlocks(message, new Map([["0", [text("short")]]]))).toEqual({
      role: "user",
      content: "short",
      id: "m1",
      timestamp: 7
    })
    const two = [text("a"), text("b")]
    expect(replaceBlocks(message, new Map([["0", two]])).content).toEqual(two)
    expect(replaceBlocks(message, new Map([["3", two]]))).toBe(message)
  })
})

describe("a message", () => {
  it.each([
    [true, []],
    [true, ""],
    [true, " \n\t"],
    [true, [text(" "), text("")]],
    [true, [null, { type: 3 }, { text: "no type" }]],
    [true, undefined],
    [false, "x"],
    [false, [text(" "), odd({ type: "resource" })]],
    [false, [odd({ type: "image" })]]
  ])("is blank: %s, with content %j", (blank, content) => {
    expect(isBlank({ content })).toBe(blank)
  })

  it("has the text of its text blocks alone", () => {
    expect(textOf({ content: [text("a"), odd({ type: "image" }), text("b"), null] })).toBe("a\nb")
    expect(textOf({ content: "plain" })).toBe("plain")
    expect(textOf({})).toBe("")
  })
})
