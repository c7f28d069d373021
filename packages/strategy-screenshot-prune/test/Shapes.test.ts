import { Commit, createMemory } from "@varve/core"
import { imageOf } from "@varve/core/Message"
import { deepFreeze } from "@varve/testkit/Freeze"
import { describe, expect, it } from "vitest"
import { screenshots } from "../src/index.ts"
import { screen } from "./pictures.ts"

type Shape = (data: string) => Record<string, unknown>

/** How hosts write an image; each is counted, replaced and scaled in its own shape. */
const shapes: Readonly<Record<string, Shape>> = {
  pi: (data) => ({ type: "image", data, mimeType: "image/png" }),
  anthropic: (data) => ({
    type: "image",
    source: { type: "base64", media_type: "image/png", data },
    cache_control: { type: "ephemeral" }
  }),
  "openai chat": (data) => ({
    type: "image_url",
    image_url: { url: `data:image/png;base64,${data}`, detail: "high" }
  }),
  "openai responses": (data) => ({
    type: "input_image",
    image_url: `data:image/png;base64,${data}`,
    detail: "auto"
  }),
  "ai sdk image": (data) => ({ type: "image", image: data, mediaType: "image/png" }),
  "ai sdk file": (data) => ({ type: "file", data, mediaType: "image/png" }),
  "ai sdk media": (data) => ({ type: "media", data, mediaType: "image/png" })
}

const nested = (block: Record<string, unknown>, content: ReadonlyArray<unknown>) => ({
  ...block,
  content
})

const history = (blocks: ReadonlyArray<Record<string, unknown>>) =>
  deepFreeze([
    { role: "user", content: "Look." },
    ...blocks.map((block) => ({
      role: "user",
      content: [{ type: "text", text: "the page" }, block]
    })),
    { role: "assistant", content: [{ type: "text", text: "I see." }] },
    { role: "user", content: "Go on." }
  ])

const blocksOf = (messages: ReadonlyArray<unknown>) =>
  (messages as ReadonlyArray<{ content: ReadonlyArray<Record<string, unknown>> }>)
    .slice(1, 5)
    .map(({ content }) => content.slice(1))

const prepare = (input: ReadonlyArray<unknown>) =>
  createMemory({
    pipeline: [screenshots({ keep: 1, thumbnails: { count: 1, edge: 128 } })],
    commit: Commit.immediate
  }).prepare(input)

const data = await Promise.all([1, 2, 3, 4].map((seed) => screen(640, 400, seed)))

describe("every host's shape of an image", () => {
  for (const [name, shape] of Object.entries(shapes)) {
    it(`is counted, made smaller and replaced: ${name}`, async () => {
      const images = data.map(shape)
      const { messages, report } = await prepare(history(images))
      expect(report.before.images).toBe(4)
      expect(report.after.images).toBe(2)
      const [first, , third, fourth] = blocksOf(messages)
      expect(first).toEqual([{ type: "text", text: expect.stringMatching(/^\[image 640x400/) }])
      expect(fourth).toEqual([images[3]])
      const [copy, text] = third!
      const { data: bytes, mimeType } = imageOf(copy)!
      expect(mimeType).toBe("image/webp")
      expect(text).toMatchObject({ text: expect.stringMatching(/640x400 to 128x80 px/) })
      // All else of the block is as the host gave it.
      const swap = (value: unknown): string =>
        JSON.stringify(value).replaceAll(bytes!, "DATA").replaceAll("image/webp", "MIME")
      const own = JSON.stringify(images[2])
        .replaceAll(data[2]!, "DATA")
        .replaceAll("image/png", "MIME")
      expect(swap(copy)).toBe(own)
    })

    it(`is found inside a result too: ${name}`, async () => {
      const images = data.map((d, i) =>
        nested({ type: "tool_result", tool_use_id: `t${i}` }, [
          { type: "text", text: "done" },
          shape(d)
        ])
      )
      const { messages, report } = await prepare(history(images))
      expect(report.before.images).toBe(4)
      expect(report.after.images).toBe(2)
      const inner = blocksOf(messages).map(([block]) => block!["content"]) as Array<Array<unknown>>
      expect(inner.map((blocks) => blocks.length)).toEqual([2, 2, 3, 2])
      expect(inner[0]![1]).toMatchObject({ text: expect.stringMatching(/^\[image 640x400/) })
      expect(inner[3]![1]).toBe((images[3]!.content as Array<unknown>)[1])
      expect(imageOf(inner[2]![1])?.mimeType).toBe("image/webp")
    })
  }
})
