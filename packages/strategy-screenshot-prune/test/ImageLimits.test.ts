import { Commit, createMemory, defaultProfile, hardLimit } from "@varve/core"
import { readImageSize } from "@varve/core/ImageSize"
import { profile } from "@varve/profiles"
import { deepFreeze } from "@varve/testkit/Freeze"
import { measure, overLimits } from "@varve/testkit/Measure"
import { pngBase64 } from "@varve/testkit/Png"
import { estimateCounter } from "@varve/core/Counter"
import type { Message } from "@varve/core/Message"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { HeldImage, ScreenshotsOptions } from "../src/index.ts"
import { planLimits, rescaleCurrent, screenshots } from "../src/index.ts"
import type { TestBlock } from "./pictures.ts"
import { historyOf, image, imagesIn, screen, shownIn } from "./pictures.ts"

type ProfileLimits = typeof defaultProfile.limits

const memoryOf = (options: ScreenshotsOptions, limits: ProfileLimits) =>
  createMemory({
    pipeline: [screenshots({ duplicates: false, ...options }), hardLimit()],
    profile: { ...defaultProfile, contextWindow: 10_000_000, limits }
  })

const png = (n: number, bytes = 0, width = 1280, height = 720) =>
  image(pngBase64(width, height, n, bytes))

const many = (n: number, make: (i: number) => TestBlock = (i) => png(i)) =>
  deepFreeze(historyOf(Array.from({ length: n }, (_, i) => [make(i)])))

const edges = (messages: ReadonlyArray<unknown>) =>
  imagesIn(messages).map(({ data }) => {
    const size = readImageSize(data!)
    return Math.max(size?.width ?? 0, size?.height ?? 0)
  })

describe("image limits", () => {
  it("hold results that are almost only images to the image count, the oldest first", async () => {
    const history = many(52)
    const { messages, report } = await memoryOf({ keep: "all" }, { images: 50 }).prepare(history)
    const left = imagesIn(messages)
    expect(left.length).toBeLessThanOrEqual(50)
    expect(left).toEqual(imagesIn(history).slice(-left.length))
    expect(report.before.tokens).toBeGreaterThan(52 * 1000)
    expect(report.strategies[0]?.reasons).toEqual({
      "over the limit of 50 images in a request": 52 - left.length
    })
    expect(report.guarded).toBe(0)
    expect(shownIn(messages)[0]?.[0]?.text).toContain("over the limit of 50 images in a request")
  })

  it("hold the sum of bytes, though tokens are far from theirs, by what is sent as base64", async () => {
    const history = many(42, (i) => png(i, 800_000))
    const limits = { requestBytes: 32_000_000 }
    const { messages, report } = await memoryOf({ keep: "all" }, limits).prepare(history)
    expect(report.before.tokens).toBeLessThan(0.01 * 10_000_000)
    expect(JSON.stringify(messages).length).toBeLessThan(32_000_000)
    expect(imagesIn(messages)).toEqual(imagesIn(history).slice(-imagesIn(messages).length))
    expect(imagesIn(messages).length).toBeGreaterThan(20)
    expect(report.strategies[0]?.reasons).toEqual({
      "over the limit of 32000000 bytes of a request": 42 - imagesIn(messages).length
    })
  })

  it("hold many small images to the sum of their bytes", async () => {
    const memory = createMemory({
      pipeline: [screenshots({ keep: "all" }), hardLimit()],
      budget: { imageBytes: 200_000 },
      profile: { ...defaultProfile, contextWindow: 10_000_000 }
    })
    const { report } = await memory.prepare(many(60, (i) => png(i, 5000)))
    expect(report.before.imageBytes).toBeGreaterThanOrEqual(300_000)
    expect(report.after.imageBytes).toBeLessThanOrEqual(200_000)
    expect(report.guarded).toBe(0)
  })

  it("make smaller copies before cards where the bytes of a request are the limit", async () => {
    const data = await Promise.all(Array.from({ length: 8 }, (_, i) => screen(640, 400, i)))
    const history = many(8, (i) => image(data[i]!))
    const bytes = data.reduce((sum, d) => sum + d.length, 0)
    const memory = memoryOf(
      { keep: "all", thumbnails: { edge: 128 } },
      { requestBytes: Math.floor(bytes * 0.8) }
    )
    const { messages, report } = await memory.prepare(history)
    expect(imagesIn(messages)).toHaveLength(8)
    expect(edges(messages)[0]).toBe(128)
    expect(edges(messages).at(-1)).toBe(640)
    expect(report.after.requestBytes).toBeLessThanOrEqual(bytes * 0.8)
  })

  it("among many images scale the old ones that became too large, and these stay so", async () => {
    const data = await Promise.all(Array.from({ length: 24 }, (_, i) => screen(1200, 30, i)))
    const limits = { manyImages: { over: 20, maxEdge: 1000 } }
    const memory = memoryOf({ keep: "all", thumbnails: 1 }, limits)
    const history = many(24, (i) => image(data[i]!, "image/png"))
    const at20 = await memory.prepare(history.slice(0, 41))
    expect(edges(at20.messages)).toEqual(Array.from({ length: 20 }, () => 1200))
    await memory.flush()
    // The newest is above the edge too: it is not scaled, so there have to be fewer images.
    const at21 = await memory.prepare(history.slice(0, 43))
    expect(at21.report.over).toEqual([])
    expect(imagesIn(at21.messages).length).toBeLessThanOrEqual(20)
    expect(imagesIn(at21.messages).at(-1)).toBe(imagesIn(history.slice(0, 43)).at(-1))
    const at22 = await memory.prepare(history.slice(0, 45))
    expect(at22.messages.slice(0, 30)).toEqual(at21.messages.slice(0, 30))
  })

  it("scale all that are too large among many where the newest is not", async () => {
    const data = await Promise.all(Array.from({ length: 21 }, (_, i) => screen(1200, 30, i)))
    const small = await screen(300, 30, 99)
    const limits = { manyImages: { over: 20, maxEdge: 1000 } }
    const memory = memoryOf({ keep: "all", thumbnails: 1 }, limits)
    const history = many(22, (i) => image(i === 21 ? small : data[i]!))
    const { messages, report } = await memory.prepare(history)
    expect(edges(messages)).toEqual([...Array.from({ length: 21 }, () => 1000), 300])
    expect(Object.keys(report.strategies[0]!.reasons)).toEqual([
      "over the limit of 1000 px of an edge among more than 20 images: 1200x30 to 1000x25 px, scale 0.8333"
    ])
    const again = await memory.prepare(history)
    expect(again.messages).toEqual(messages)
  })

  it("are exact at their borders: 20 and 21 images, 2000 and 2001 px", () => {
    const limits = profile("anthropic/claude-opus-5.5").limits
    const asked = (n: number, edge: number) => {
      const held = Array.from({ length: n }, (_, i): HeldImage => ({
        message: `m${i}`,
        width: edge,
        height: 100,
        bytes: 1000,
        fixed: false,
        scalable: true
      }))
      return planLimits(held, limits, 0).size
    }
    expect(asked(20, 2001)).toBe(0)
    expect(asked(21, 2000)).toBe(0)
    expect(asked(21, 2001)).toBe(21)
    expect(asked(1, 8000)).toBe(0)
    expect(asked(1, 8001)).toBe(1)
  })

  it("leave a large image alone, and make room for it or scale it among many", async () => {
    const claude = profile("anthropic/claude-opus-5.5")
    const large = image(await screen(2200, 600, 1))
    const small = await Promise.all(Array.from({ length: 21 }, (_, i) => screen(300, 200, i)))
    const start = (thumbnails: number) =>
      createMemory({
        pipeline: [screenshots({ keep: "all", thumbnails, duplicates: false }), hardLimit()],
        profile: claude
      })
    const alone = await start(1).prepare(historyOf([[large]]))
    expect(imagesIn(alone.messages)).toEqual([large])
    const history = historyOf([[large], ...small.map((data) => [image(data)])])
    const scaled = await start(1).prepare(history)
    expect(edges(scaled.messages)[0]).toBe(2000)
    expect(imagesIn(scaled.messages)).toHaveLength(22)
    const cards = await start(0).prepare(history)
    expect(imagesIn(cards.messages)).toHaveLength(21)
    expect(shownIn(cards.messages)[0]?.[0]?.text).toContain("2000 px of an edge among more than 20")
  })

  it("are each kept: a message, a request, its bytes; oldest first, the newest last, by name", async () => {
    const message = historyOf([Array.from({ length: 25 }, (_, i) => png(i)), [png(50)]])
    const perMessage = await memoryOf({ keep: "all" }, { imagesPerMessage: 20 }).prepare(message)
    expect(imagesIn(perMessage.messages)).toEqual(imagesIn(message).slice(5))
    expect(shownIn(perMessage.messages)[0]?.[4]?.text).toContain("20 images in a message")

    const perRequest = await memoryOf({ keep: "all" }, { images: 100 }).prepare(many(130))
    expect(perRequest.report.after.images).toBeLessThanOrEqual(100)
    expect(imagesIn(perRequest.messages).at(-1)).toEqual(png(129))

    const bytes = { requestBytes: 32 * 1024 * 1024 }
    const perBytes = await memoryOf({ keep: "all" }, bytes).prepare(
      many(40, (i) => png(i, 1024 * 1024))
    )
    expect(perBytes.report.after.requestBytes).toBeLessThanOrEqual(bytes.requestBytes)
    expect(perBytes.report.strategies[0]?.reasons).toHaveProperty(
      "over the limit of 33554432 bytes of a request"
    )

    const untouched = many(130)
    const none = await memoryOf({ keep: "all" }, {}).prepare(untouched)
    expect(none.messages).toBe(untouched)
  })

  it("scale one image that is over the edge or the bytes of one, and card it where they can't", async () => {
    const wide = image(await screen(1500, 600, 1))
    const history = historyOf([[wide], [png(1)], [png(2)]])
    const scaled = await memoryOf({ keep: "all", thumbnails: 1 }, { maxEdge: 1300 }).prepare(
      history
    )
    expect(edges(scaled.messages)).toEqual([1300, 1280, 1280])
    const card = await memoryOf({ keep: "all" }, { maxEdge: 1300 }).prepare(history)
    expect(shownIn(card.messages)[0]?.[0]?.text).toContain("over the limit of 1300 px of an edge")
    const heavy = { bytesPerImage: wide.data!.length - 1 }
    const lighter = await memoryOf({ keep: "all", thumbnails: 1 }, heavy).prepare(history)
    const [copy, ...beside] = shownIn(lighter.messages)[0]!
    expect(edges(lighter.messages)[0]).toBe(1500)
    expect(copy?.data?.length).toBeLessThan(heavy.bytesPerImage)
    // Nothing was scaled, so there is nothing to say.
    expect(beside).toEqual([])
  })

  it("never scale the current screenshot unless asked, and then say from, to and scale", async () => {
    const current = image(await screen(1500, 60, 1))
    const start = (asked: boolean) =>
      createMemory({
        pipeline: [screenshots({ thumbnails: 2 }), asked && rescaleCurrent(), hardLimit()],
        profile: { ...defaultProfile, limits: { maxEdge: 1000 } }
      })
    const history = historyOf([[png(1, 0, 900, 600)], [current]])
    const unasked = await start(false).prepare(history)
    expect(shownIn(unasked.messages)[1]?.[0]?.text).toMatch(/^\[image 1500x60/)
    const asked = await start(true).prepare(history)
    const [copy, text] = shownIn(asked.messages)[1]!
    expect(readImageSize(copy!.data!)).toMatchObject({ width: 1000, height: 40 })
    expect(text?.text).toMatch(/^\[scaled from 1500x60 to 1000x40 px, scale 0.6667; recall \S+\]$/)
    expect(asked.report.strategies.at(-1)?.reasons).toEqual({
      "over the limit of 1000 px of an edge: 1500x60 to 1000x40 px, scale 0.6667": 1
    })
    const within = await start(true).prepare(historyOf([[png(1, 0, 900, 600)]]))
    expect(within.report.guarded).toBe(0)
  })

  it("come into force at once, down to where the next images don't ask again", async () => {
    const memory = createMemory({
      pipeline: [screenshots({ keep: 2, duplicates: false }), hardLimit()],
      profile: { ...defaultProfile, contextWindow: 10_000_000, limits: { images: 10 } },
      // Would never commit by itself.
      commit: Commit.batched({ size: 1000 })
    })
    const all = many(40)
    const counts: Array<number> = []
    for (let at = 3; at <= all.length; at += 2) {
      const { report } = await memory.prepare(all.slice(0, at))
      counts.push(report.after.images)
      expect(report.guarded).toBe(0)
    }
    expect(Math.max(...counts)).toBe(10)
    expect(counts.filter((n, i) => n < (counts[i - 1] ?? 0)).length).toBeLessThan(10)
  })
})

describe("planLimits", () => {
  const held = fc.record<HeldImage>({
    message: fc.constantFrom("a", "b", "c"),
    width: fc.integer({ min: 1, max: 4000 }),
    height: fc.integer({ min: 1, max: 4000 }),
    bytes: fc.integer({ min: 1, max: 5000 }),
    fixed: fc.nat(5).map((n) => n === 0),
    scalable: fc.boolean()
  })
  const limits = fc.record(
    {
      images: fc.integer({ min: 1, max: 12 }),
      imagesPerMessage: fc.integer({ min: 1, max: 6 }),
      maxEdge: fc.integer({ min: 100, max: 4000 }),
      maxPixels: fc.integer({ min: 10_000, max: 9_000_000 }),
      bytesPerImage: fc.integer({ min: 100, max: 5000 }),
      imageBytes: fc.integer({ min: 2000, max: 40_000 }),
      manyImages: fc.record({
        over: fc.integer({ min: 1, max: 10 }),
        maxEdge: fc.integer({ min: 100, max: 4000 })
      })
    },
    { requiredKeys: [] }
  )

  it("never touches what is fixed, and meets every limit that the fixed ones allow", () => {
    fc.assert(
      fc.property(fc.array(held, { maxLength: 16 }), limits, (images, limits) => {
        const steps = planLimits(images, limits, 0)
        const left = images.flatMap((image, i) => {
          const step = steps.get(i)
          if (step !== undefined) expect(image.fixed).toBe(false)
          if (step?.to === "copy") expect(image.scalable).toBe(true)
          if (step?.to === "card") return []
          const edge = Math.max(image.width, image.height)
          const to = step?.to === "copy" ? step.edge : edge
          const bytes = step === undefined ? image.bytes : Math.min(100, image.bytes)
          return [{ ...image, edge: Math.min(edge, to), bytes }]
        })
        const free = left.filter((image) => !image.fixed)
        const { manyImages: rule } = limits
        if (left.length > (limits.images ?? Infinity)) expect(free).toEqual([])
        for (const image of free) expect(image.edge).toBeLessThanOrEqual(limits.maxEdge ?? Infinity)
        const sum = left.reduce((all, { bytes }) => all + bytes, 0)
        if (free.some((image) => !image.scalable))
          expect(sum).toBeLessThanOrEqual(Math.max(limits.imageBytes ?? Infinity, 0))
        if (rule !== undefined && left.length > rule.over && !left.some((image) => image.fixed)) {
          expect(Math.max(...left.map(({ edge }) => edge))).toBeLessThanOrEqual(rule.maxEdge)
        }
        for (const message of ["a", "b", "c"]) {
          const inMessage = left.filter((image) => image.message === message)
          if (inMessage.length > (limits.imagesPerMessage ?? Infinity))
            expect(inMessage.every((image) => image.fixed)).toBe(true)
        }
      }),
      { numRuns: 1000 }
    )
  })

  it("makes no room for an image that can't stay whatever else goes", () => {
    const at = (n: number, edge: number, fixed: boolean): HeldImage => ({
      message: `m${n}`,
      width: edge,
      height: 100,
      bytes: 1000,
      fixed,
      scalable: false
    })
    const old = Array.from({ length: 20 }, (_, n) => at(n, 500, false))
    const limits = { maxEdge: 8000, manyImages: { over: 20, maxEdge: 2000 } }
    expect(planLimits([...old, at(20, 9000, true)], limits, 0).size).toBe(0)
    expect(planLimits([...old, at(20, 3000, true)], limits, 0).size).toBe(7)
    const stuck = Array.from({ length: 25 }, (_, n) => at(n, 500, true))
    expect(planLimits([...old, ...stuck, at(50, 3000, true)], limits, 0).size).toBe(0)
  })

  it("asks for nothing where nothing is over", () => {
    fc.assert(
      fc.property(fc.array(held, { maxLength: 16 }), (images) => {
        expect(planLimits(images, {}, 0).size).toBe(0)
      })
    )
  })

  it("and the guard agree on what fits", async () => {
    const counter = estimateCounter()
    const limits = { images: 6, imagesPerMessage: 2, bytesPerImage: 9000, maxEdge: 1000 }
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.array(fc.tuple(fc.constantFrom(600, 1000, 1200), fc.constantFrom(0, 8000, 12_000)), {
            maxLength: 3
          }),
          { maxLength: 8 }
        ),
        async (steps) => {
          const history = historyOf(
            steps.map((list, s) =>
              list.map(([width, bytes], i) => png(s * 8 + i, bytes, width, 400))
            )
          )
          const { messages, report } = await memoryOf({ keep: "all" }, limits).prepare(
            deepFreeze(history)
          )
          const sent = measure(messages as unknown as ReadonlyArray<Message>, counter)
          expect(overLimits(sent, limits)).toEqual([])
          expect(report.over).toEqual([])
        }
      ),
      { numRuns: 100 }
    )
  })
})
