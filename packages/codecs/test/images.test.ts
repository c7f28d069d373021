import { createMemory, hardLimit } from "@varve/core"
import { imageOf, withImage } from "@varve/core/Message"
import type { Block, Message } from "@varve/core/Message"
import { pngBase64 } from "@varve/testkit/Png"
import { describe, expect, it } from "vitest"
import { edited } from "./edited.ts"
import { hosts } from "./hosts.ts"

type Json = Record<string, any>

const png = (seed: number): string => pngBase64(640, 480, seed)
const url = (seed: number): string => `data:image/png;base64,${png(seed)}`
const bytes = (seed: number): Uint8Array => new Uint8Array(Buffer.from(png(seed), "base64"))

const langChainForms: ReadonlyArray<readonly [form: string, make: (seed: number) => Json]> = [
  ["image_url", (n) => ({ type: "image_url", image_url: { url: url(n), detail: "high" } })],
  ["image_url of a text", (n) => ({ type: "image_url", image_url: url(n) })],
  ["data", (n) => ({ type: "image", mimeType: "image/png", data: png(n), metadata: { a: 1 } })],
  ["bytes", (n) => ({ type: "image", mimeType: "image/png", data: bytes(n) })],
  ["url", (n) => ({ type: "image", url: url(n) })],
  [
    "base64",
    (n) => ({ type: "image", source_type: "base64", mime_type: "image/png", data: png(n) })
  ],
  ["linked", (n) => ({ type: "image", source_type: "url", url: url(n) })],
  [
    "Anthropic's source",
    (n) => ({
      type: "image",
      source: { type: "base64", media_type: "image/png", data: png(n) },
      cache_control: { type: "ephemeral" }
    })
  ],
  ["media", (n) => ({ type: "media", mimeType: "image/png", data: png(n) })]
]

/** Each way in which a host holds an image in a user's message, and in a result. */
const forms: ReadonlyArray<
  readonly [host: string, form: string, place: "user" | "result", make: (seed: number) => Json]
> = [
  [
    "anthropic",
    "base64",
    "user",
    (n) => ({
      type: "image",
      source: { type: "base64", media_type: "image/png", data: png(n) },
      cache_control: { type: "ephemeral" }
    })
  ],
  [
    "anthropic",
    "base64",
    "result",
    (n) => ({ type: "image", source: { type: "base64", media_type: "image/png", data: png(n) } })
  ],
  [
    "chat",
    "image_url",
    "user",
    (n) => ({ type: "image_url", image_url: { url: url(n), detail: "high" } })
  ],
  [
    "chat",
    "image_url",
    "result",
    (n) => ({ type: "image_url", image_url: { url: url(n), detail: "high" } })
  ],
  [
    "responses",
    "input_image",
    "user",
    (n) => ({ type: "input_image", image_url: url(n), detail: "high" })
  ],
  [
    "responses",
    "input_image",
    "result",
    (n) => ({ type: "input_image", image_url: url(n), detail: "high" })
  ],
  ["ai-sdk", "base64", "user", (n) => ({ type: "image", image: png(n) })],
  ["ai-sdk", "data URL", "user", (n) => ({ type: "image", image: url(n), mediaType: "image/png" })],
  ["ai-sdk", "URL", "user", (n) => ({ type: "image", image: new URL(url(n)) })],
  ["ai-sdk", "bytes", "user", (n) => ({ type: "image", image: bytes(n) })],
  [
    "ai-sdk",
    "file",
    "user",
    (n) => ({ type: "file", data: png(n), mediaType: "image/png", filename: "a.png" })
  ],
  [
    "ai-sdk",
    "file of bytes",
    "user",
    (n) => ({ type: "file", data: bytes(n), mediaType: "image/png" })
  ],
  [
    "ai-sdk",
    "tagged file",
    "user",
    (n) => ({ type: "file", data: { type: "data", data: bytes(n) }, mediaType: "image" })
  ],
  ["ai-sdk", "media", "result", (n) => ({ type: "media", data: png(n), mediaType: "image/png" })],
  [
    "ai-sdk",
    "image-data",
    "result",
    (n) => ({ type: "image-data", data: png(n), mediaType: "image/png" })
  ],
  ["ai-sdk", "image-url", "result", (n) => ({ type: "image-url", url: url(n) })],
  [
    "ai-sdk",
    "file-data",
    "result",
    (n) => ({ type: "file-data", data: png(n), mediaType: "image/png" })
  ],
  [
    "ai-sdk",
    "tagged file",
    "result",
    (n) => ({ type: "file", data: { type: "data", data: png(n) }, mediaType: "image/png" })
  ],
  ["ai-sdk", "file id", "result", (n) => ({ type: "image-file-id", fileId: `file-${n}` })],
  [
    "ai-sdk",
    "reference",
    "user",
    (n) => ({
      type: "file",
      data: { type: "reference", reference: { openai: `file-${n}` } },
      mediaType: "image/png"
    })
  ],
  ["ai-sdk", "bare reference", "user", (n) => ({ type: "image", image: { openai: `file-${n}` } })],
  ...(["user", "result"] as const).flatMap((place) =>
    langChainForms.map(([form, make]) => ["langchain", form, place, make] as const)
  )
]

/** A history of steps in which each message of a kind holds one image. */
const request = (
  host: string,
  place: "user" | "result",
  image: Json,
  n: number
): ReadonlyArray<Json> => {
  const id = `c${n}`
  if (place === "user")
    return [
      { role: "user", content: [image] },
      { role: "assistant", content: "seen" }
    ]
  switch (host) {
    case "anthropic":
      return [
        { role: "assistant", content: [{ type: "tool_use", id, name: "look", input: {} }] },
        { role: "user", content: [{ type: "tool_result", tool_use_id: id, content: [image] }] }
      ]
    case "chat":
      return [
        {
          role: "assistant",
          content: null,
          tool_calls: [{ id, type: "function", function: { name: "look", arguments: "{}" } }]
        },
        { role: "tool", tool_call_id: id, content: [image] }
      ]
    case "langchain":
      return [
        { role: "assistant", content: "", tool_calls: [{ id, name: "look", args: {} }] },
        { role: "tool", tool_call_id: id, content: [image] }
      ]
    case "responses":
      return [
        { type: "function_call", call_id: id, name: "look", arguments: "{}" },
        { type: "function_call_output", call_id: id, output: [image] }
      ]
    default:
      return [
        {
          role: "assistant",
          content: [{ type: "tool-call", toolCallId: id, toolName: "look", input: {} }]
        },
        {
          role: "tool",
          content: [
            {
              type: "tool-result",
              toolCallId: id,
              toolName: "look",
              output: { type: "content", value: [image] }
            }
          ]
        }
      ]
  }
}

const partsIn = (message: Json): ReadonlyArray<Json> => {
  const inside = message.content ?? message.output
  const list = Array.isArray(inside) ? inside : []
  return list.flatMap((part) => {
    if (part.type === "tool_use" || part.type === "tool-call") return []
    if (part.type === "tool_result") return part.content
    return part.type === "tool-result" ? part.output.value : [part]
  })
}

describe.each(forms)("%s: %s in a %s", (name, form, place, make) => {
  const { codec } = hosts.find((host) => host.name === name)!
  const history = [
    { role: "user", content: "go" },
    ...[1, 2, 3, 4].flatMap((n) => request(name, place, make(n), n))
  ]

  it("is counted, and pruned like any other: the newest stays", async () => {
    const memory = createMemory({ pipeline: [hardLimit()], budget: { images: 1 } })
    const { messages, report } = await codec.prepare(memory, history)
    expect([report.before.images, report.after.images]).toEqual([4, 1])
    const last = place === "user" ? history.length - 2 : history.length - 1
    messages.forEach((message, i) => {
      const [part] = partsIn(message)
      if (part === undefined) expect(message).toBe(history[i])
      else if (i === last) expect(message).toBe(history[i])
      else
        expect(part).toMatchObject({
          type: partsIn(history[i]!)[0]!.type.startsWith("input") ? "input_text" : "text",
          // Of an image that the provider keeps nobody here knows the size.
          text: expect.stringMatching(
            /^file id|reference/.test(form) ? /^\[image/ : /^\[image 640x480/
          )
        })
    })
    await memory.close()
  })

  it("is replaced by a smaller one in the host's own form", () => {
    const neutral = codec.read(history)
    const at = neutral.findIndex(
      (m) =>
        Array.isArray(m.content) && imageOf((m.content as ReadonlyArray<Block>)[0]) !== undefined
    )
    const small = withImage((neutral[at]!.content as ReadonlyArray<Block>)[0], {
      data: pngBase64(64, 48),
      mimeType: "image/webp"
    })
    const plain: Block = { type: "image", data: pngBase64(64, 48), mimeType: "image/webp" }
    for (const block of [small, plain]) {
      const out = edited(codec, history, { [at]: { "0": block } })
      const again = codec.read(out)[at] as Message
      const image = imageOf((again.content as ReadonlyArray<Block>)[0])
      expect(image).toMatchObject({ data: pngBase64(64, 48), mimeType: "image/webp" })
      const [before] = history.flatMap(partsIn)
      const [after] = out.flatMap(partsIn)
      if (!/^image-(url|file)/.test(before!.type)) expect(after!.type).toBe(before!.type)
      if (before!.cache_control !== undefined)
        expect(after!.cache_control).toEqual(before!.cache_control)
    }
  })
})
