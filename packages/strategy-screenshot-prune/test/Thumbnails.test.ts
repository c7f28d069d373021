import { Commit, createMemory, makeCounter, memoryStore } from "@varve/core"
import type { PlainMemory } from "@varve/core"
import { readImageSize } from "@varve/core/ImageSize"
import { profile } from "@varve/profiles"
import { deepFreeze } from "@varve/testkit/Freeze"
import { pngBase64 } from "@varve/testkit/Png"
import { imageTokens, tiktokenCounter } from "@varve/tokenizer"
import sharp from "sharp"
import type { Sharp } from "sharp"
import { describe, expect, it } from "vitest"
import { requireSharp } from "../src/internal/sharp.ts"
import type { ScreenshotsOptions } from "../src/index.ts"
import { screenshots } from "../src/index.ts"
import type { TestBlock } from "./pictures.ts"
import { historyOf, image, imagesIn, pixels, screen, shownIn } from "./pictures.ts"

const memoryOf = (options: ScreenshotsOptions, model = "anthropic/claude-opus-5.5") =>
  createMemory({
    pipeline: [screenshots(options)],
    profile: profile(model),
    counter: tiktokenCounter(),
    commit: Commit.immediate
  })

const sizes = (blocks: ReadonlyArray<TestBlock>) =>
  blocks.map((b) => {
    const size = b.data === undefined ? undefined : readImageSize(b.data)
    return size === undefined ? "text" : `${size.width}x${size.height} ${size.format}`
  })

const screens = async (n: number, width = 640, height = 400) =>
  Promise.all(Array.from({ length: n }, async (_, i) => [image(await screen(width, height, i))]))

/** What stands where the first image of a list of steps stood, the others being full ones. */
const firstOf = async (data: string, mimeType = "image/png", edge = 128, memory?: PlainMemory) => {
  const rest = await screens(2)
  const made = memory ?? memoryOf({ keep: 1, thumbnails: { edge } })
  const { messages } = await made.prepare(historyOf([[image(data, mimeType)], ...rest]))
  return shownIn(messages)[0]!
}

const encoded = async (change: (png: Sharp) => Sharp, width = 640, height = 400) => {
  const source = sharp(pixels(width, height, 5), { raw: { width, height, channels: 3 } })
  return (await change(source).toBuffer()).toString("base64")
}

describe("thumbnails", () => {
  it("go from full to thumbnail to card, and tokens fall by the model's rule", async () => {
    const rule = { rule: "claude", patch: 28, maxEdge: 1568, maxTokens: 1568 } as const
    const memory = createMemory({
      pipeline: [screenshots({ keep: 1, thumbnails: { count: 2, edge: 256 } })],
      // A word a text, so that what is left of a difference is the images.
      counter: makeCounter({ name: "words", text: () => 1, image: (s) => imageTokens(rule, s) }),
      commit: Commit.immediate
    })
    const { messages, report } = await memory.prepare(deepFreeze(historyOf(await screens(5))))
    expect(shownIn(messages).map(sizes)).toEqual([
      ["text"],
      ["text"],
      ["256x160 webp", "text"],
      ["256x160 webp", "text"],
      ["640x400 png"]
    ])
    const full = 23 * 15
    const thumbnail = 10 * 6
    expect(report.before.tokens - report.after.tokens).toBe(4 * full - 2 * thumbnail - 4)
  })

  it("say from, to and scale beside the thumbnail and in the report", async () => {
    const memory = memoryOf({ keep: 1, thumbnails: { edge: 256 } })
    const { messages, report } = await memory.prepare(historyOf(await screens(2)))
    const how = "640x400 to 256x160 px, scale 0.4"
    expect(shownIn(messages)[0]?.[1]?.text).toMatch(
      new RegExp(`^\\[scaled from ${how}; recall \\S+\\]$`)
    )
    expect(report.strategies[0]?.reasons).toEqual({ [`thumbnail: ${how}`]: 1 })
  })

  it("are as small as the longest edge that the budget allows, where that is less than theirs", async () => {
    const memory = createMemory({
      pipeline: [screenshots({ keep: 1, thumbnails: { count: 2, edge: 512 } })],
      profile: profile("anthropic/claude-opus-5.5"),
      counter: tiktokenCounter(),
      budget: { maxEdge: 300 },
      commit: Commit.immediate
    })
    const { messages, report } = await memory.prepare(deepFreeze(historyOf(await screens(5))))
    expect(shownIn(messages).map(sizes)).toEqual([
      ["text"],
      ["text"],
      ["300x188 webp", "text"],
      ["300x188 webp", "text"],
      ["640x400 png"]
    ])
    expect(report.over).toEqual(["640 px of an edge, the limit is 300"])
    await memory.close()
  })

  it("never touch the newest image", async () => {
    const big = image(await screen(1200, 800, 1))
    const memory = memoryOf({ keep: 0, thumbnails: { edge: 64 } })
    const { messages } = await memory.prepare(historyOf([...(await screens(2)), [big]]))
    expect(imagesIn(messages).at(-1)).toBe(big)
    expect(sizes(imagesIn(messages))).toEqual(["64x40 webp", "64x40 webp", "1200x800 png"])
  })

  it("stand upright where the image is rotated by EXIF", async () => {
    const lying = await encoded((s) => s.jpeg().withMetadata({ orientation: 6 }))
    expect(sizes(await firstOf(lying, "image/jpeg"))).toEqual(["80x128 webp", "text"])
  })

  it("keep alpha where the format has it, and put it on white where it hasn't", async () => {
    const clear = await sharp({
      create: { width: 300, height: 300, channels: 4, background: { r: 0, g: 0, b: 0, alpha: 0 } }
    })
      .composite([
        {
          input: Buffer.from(pixels(120, 300, 3)),
          raw: { width: 120, height: 300, channels: 3 },
          left: 0,
          top: 0
        }
      ])
      .png()
      .toBuffer()
    const [webp] = await firstOf(clear.toString("base64"))
    expect((await sharp(Buffer.from(webp!.data!, "base64")).metadata()).hasAlpha).toBe(true)
    const jpegs = memoryOf({ keep: 1, thumbnails: { edge: 128, format: "jpeg" } })
    const [jpeg] = await firstOf(clear.toString("base64"), "image/png", 128, jpegs)
    expect(jpeg?.mimeType).toBe("image/jpeg")
    const { data, info } = await sharp(Buffer.from(jpeg!.data!, "base64"))
      .raw()
      .toBuffer({ resolveWithObject: true })
    expect(data[(info.width * 64 + 120) * info.channels]).toBeGreaterThan(240)
  })

  it("keep the aspect and are never enlarged", async () => {
    expect(sizes(await firstOf(await encoded((s) => s.png(), 1200, 300)))).toEqual([
      "128x32 webp",
      "text"
    ])
    expect(sizes(await firstOf(await screen(120, 80, 1)))).toEqual(["120x80 png"])
  })

  it("are the same bytes in every run", async () => {
    const data = await screen(900, 600, 4)
    expect(await firstOf(data)).toEqual(await firstOf(data))
  })

  it("come of what the bytes are, not of what they are called", async () => {
    const jpeg = await encoded((s) => s.jpeg())
    const [block] = await firstOf(jpeg, "image/png")
    expect(block).toMatchObject({ type: "image", mimeType: "image/webp" })
  })

  it("are cards with the reason where an image can't be read", async () => {
    const png = await screen(640, 400, 9)
    const header = pngBase64(30_000, 30_000)
    const cases: ReadonlyArray<readonly [string, RegExp]> = [
      [png.slice(0, png.length >> 1), /no thumbnail, it is damaged/],
      [png.slice(0, 400) + "A".repeat(9000), /no thumbnail, it is damaged/],
      [header, /30000x30000; no thumbnail, it has too many pixels/],
      [
        Buffer.from("<svg/>").toString("base64"),
        /no thumbnail, it is not an image of a known kind/
      ],
      ["", /no thumbnail|an older/]
    ]
    for (const [data, reason] of cases) {
      const [block, ...rest] = await firstOf(data)
      expect(rest).toEqual([])
      expect(block?.text).toMatch(reason)
      expect(block?.text!.length).toBeLessThan(140)
    }
  })

  it("are not made where they would not be cheaper: on Gemini 3 an image costs the same at any size", async () => {
    const steps = historyOf(await screens(4))
    const gemini = memoryOf(
      { keep: 1, thumbnails: { count: 2, edge: 64 } },
      "google/gemini-3.1-pro"
    )
    const { messages } = await gemini.prepare(steps)
    expect(sizes(shownIn(messages).flat())).toEqual([
      "text",
      "640x400 png",
      "640x400 png",
      "640x400 png"
    ])
  })

  it("are proposed by the request after the one that brought the image, without waiting", async () => {
    const memory = memoryOf({ keep: 1, thumbnails: { edge: 64 } })
    const steps = historyOf(await screens(3))
    await memory.prepare(steps.slice(0, 3))
    await memory.flush()
    const { report } = await memory.prepare(steps.slice(0, 5))
    expect(report.strategies[0]?.accepted).toBe(1)
  })

  it("outlast a restart with the bytes that the model has seen, whatever would be made now", async () => {
    const store = memoryStore()
    const start = (quality: number) =>
      createMemory({
        pipeline: [screenshots({ keep: 1, thumbnails: { edge: 128, quality } })],
        commit: Commit.immediate,
        store
      })
    const steps = historyOf(await screens(4))
    const first = start(60)
    const before = await first.prepare(steps.slice(0, 7))
    await first.close()
    const after = await start(5).prepare(steps)
    expect(imagesIn(after.messages).slice(0, 2)).toEqual(imagesIn(before.messages).slice(0, 2))
    expect(imagesIn(after.messages)[2]!.data!.length).toBeLessThan(
      imagesIn(before.messages)[1]!.data!.length
    )
  })

  it("come from a store where the image was made smaller before", async () => {
    const store = memoryStore()
    const loads: Array<boolean> = []
    const spy = {
      ...store,
      load: (key: string) => {
        loads.push(key.startsWith("screenshots/"))
        return store.load(key)
      }
    }
    const steps = historyOf(await screens(3))
    const start = () => memoryOf({ keep: 1, thumbnails: { edge: 128, store: spy } })
    const first = await start().prepare(steps)
    expect(loads).toEqual(loads.map(() => true))
    const put: Array<string> = []
    const reading = { ...spy, replace: (key: string) => (put.push(key), store.replace(key, [])) }
    const second = await memoryOf({
      keep: 1,
      thumbnails: { edge: 128, store: reading }
    }).prepare(steps)
    expect(second.messages).toEqual(first.messages)
    expect(put).toEqual([])
  })

  it("need sharp when they are asked for, and nothing else does", () => {
    const missing = () => {
      throw new Error("Cannot find module 'sharp'")
    }
    expect(() => requireSharp("screenshots.thumbnails", missing)).toThrow(
      /screenshots\.thumbnails: .* sharp, which is not installed.*npm install sharp/
    )
    expect(() => requireSharp("screenshots.thumbnails", missing)).toThrowError(
      expect.objectContaining({ _tag: "ConfigError" })
    )
  })
})
