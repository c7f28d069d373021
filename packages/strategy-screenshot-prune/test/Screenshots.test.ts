import { Commit, createMemory, defaultProfile, hardLimit } from "@varve/core"
import { deepFreeze } from "@varve/testkit/Freeze"
import { pngBase64 } from "@varve/testkit/Png"
import { describe, expect, it } from "vitest"
import type { ScreenshotsOptions } from "../src/index.ts"
import { screenshots } from "../src/index.ts"
import type { TestBlock } from "./pictures.ts"
import { historyOf, image, imagesIn, shownIn } from "./pictures.ts"

const png = (n: number) => image(pngBase64(1280, 720, n))

const long = deepFreeze(historyOf(Array.from({ length: 60 }, (_, i) => [png(i)])))

const history = (steps: number) => long.slice(0, 1 + 2 * steps)

const memoryOf = (options?: ScreenshotsOptions, commit = Commit.immediate) =>
  createMemory({ pipeline: [screenshots(options), hardLimit()], commit })

const texts = (blocks: ReadonlyArray<TestBlock>) => blocks.map((b) => b.text ?? b.type)

describe("screenshots", () => {
  it("keeps the newest images and the text beside those that go", async () => {
    const memory = memoryOf({ keep: 2 })
    memory.steps.begin({ id: "s0", step: 7, goal: "open page 0", callId: "c0" })
    memory.steps.finish({ id: "s0", callId: "c0", outcome: "success" })
    const { messages, report } = await memory.prepare(history(5))
    expect(report.before.images).toBe(5)
    expect(report.after.images).toBe(2)
    const [, , result] = messages
    expect(result?.content[0]).toEqual({ type: "text", text: "page 0" })
    expect(shownIn(messages)[0]?.[0]?.text).toMatch(
      /^\[image 1280x720; step 7, succeeded: "open page 0"; an older screenshot; recall .+\]$/
    )
  })

  it("counts images, not messages", async () => {
    const pairs = historyOf([0, 2, 4, 6].map((n) => [png(n), png(n + 1)]))
    const { messages } = await memoryOf({ keep: 3 }).prepare(deepFreeze(pairs))
    expect(shownIn(messages).map(texts)).toEqual([
      [expect.stringMatching(/^\[image/), expect.stringMatching(/^\[image/)],
      [expect.stringMatching(/^\[image/), expect.stringMatching(/^\[image/)],
      [expect.stringMatching(/^\[image/), "image"],
      ["image", "image"]
    ])
  })

  it("cuts several images of one message one by one, the oldest first", async () => {
    const one = [...historyOf([[png(0), png(1), png(2)]]), { role: "user", content: "And now?" }]
    const { messages } = await memoryOf({ keep: 2 }).prepare(deepFreeze(one))
    expect(texts(shownIn(messages)[0]!)).toEqual([
      expect.stringMatching(/^\[image/),
      "image",
      "image"
    ])
    expect(imagesIn(messages)).toEqual([png(1), png(2)])
  })

  it("leaves the images of the current prompt even if none are to be kept", async () => {
    const prompt = { role: "user", content: [{ type: "text", text: "Compare." }, png(8), png(9)] }
    const { messages } = await memoryOf({ keep: 0 }).prepare(deepFreeze([...history(4), prompt]))
    expect(imagesIn(messages)).toEqual([png(8), png(9)])
  })

  it("leaves results alone that the model has not seen", async () => {
    const { messages } = await memoryOf({ keep: 1 }).prepare(
      historyOf([[png(0)], [png(1), png(2), png(3)]])
    )
    expect(imagesIn(messages)).toHaveLength(3)
  })

  it("gives a card that does not change with the history, and names its image for good", async () => {
    const memory = memoryOf({ keep: 2 })
    const seen = new Map<number, string>()
    for (let steps = 1; steps <= 12; steps++) {
      const { messages } = await memory.prepare(history(steps))
      shownIn(messages).forEach(([block], i) => {
        if (block?.text === undefined) return
        expect(block.text).toBe(seen.get(i) ?? block.text)
        seen.set(i, block.text)
      })
    }
    expect(new Set(seen.values()).size).toBe(10)
    for (const [i, text] of seen) {
      const id = /recall (\S+)\]$/.exec(text)![1]!
      expect(await memory.recall(id)).toMatchObject({ block: png(i) })
    }
  })

  it("says each card with its size, its reason and fewer tokens than the image", async () => {
    const { messages, report } = await memoryOf({ keep: 1 }).prepare(history(6))
    for (const [block] of shownIn(messages).slice(0, -1)) {
      expect(block?.text).toMatch(/^\[image 1280x720; an older screenshot; recall \S+\]$/)
      expect(block!.text!.length).toBeLessThan(90)
    }
    expect(report.after.tokens).toBeLessThan(report.before.tokens)
    expect(report.strategies[0]?.reasons).toEqual({ "an older screenshot": 5 })
  })

  it("has nothing to do on what it gave", async () => {
    const { messages } = await memoryOf({ keep: 2 }).prepare(history(6))
    const again = await memoryOf({ keep: 2 }).prepare(deepFreeze(messages))
    expect(again.messages).toBe(messages)
  })

  it("gives the classic text with the real step, else with which image it is", async () => {
    const memory = memoryOf({ keep: 1, placeholder: "classic", duplicates: false })
    memory.steps.begin({ id: "s", step: 40, goal: "open page 1", callId: "c1" })
    memory.steps.finish({ id: "s", callId: "c1", outcome: "failed" })
    const { messages } = await memory.prepare(history(4))
    expect(shownIn(messages).map(texts)).toEqual([
      ["[Screenshot removed - Step 1]"],
      ["[Screenshot removed - Step 40]"],
      ["[Screenshot removed - Step 3]"],
      ["image"]
    ])
  })

  it("changes the prefix once a batch, and images swing between keep and keep plus batch", async () => {
    const memory = memoryOf({ keep: 3 }, Commit.batched({ size: 3 }))
    const counts: Array<number> = []
    let changes = 0
    let last: ReadonlyArray<unknown> = []
    for (let steps = 1; steps <= 50; steps++) {
      const { messages, report } = await memory.prepare(history(steps))
      if (last.some((m, i) => m !== messages[i])) changes++
      last = messages
      counts.push(report.after.images)
    }
    expect(counts.slice(0, 12)).toEqual([1, 2, 3, 4, 5, 3, 4, 5, 3, 4, 5, 3])
    expect(changes).toBeLessThanOrEqual(Math.ceil(50 / 3))
    expect(changes).toBeGreaterThan(10)
  })

  it("slides where the provider has no cache", async () => {
    const profile = { ...defaultProfile, cache: { ...defaultProfile.cache, kind: "none" as const } }
    const memory = createMemory({ pipeline: [screenshots({ keep: 2 })], profile })
    for (let steps = 1; steps <= 8; steps++) {
      const { report } = await memory.prepare(history(steps))
      expect(report.after.images).toBe(Math.min(steps, 2))
    }
  })

  it("waits by default until a batch pays", async () => {
    const memory = createMemory({ pipeline: [screenshots({ keep: 2 })] })
    let commits = 0
    for (let steps = 1; steps <= 60; steps++) {
      const { report } = await memory.prepare(history(steps))
      if (report.commit.committed > 0) commits++
    }
    expect(commits).toBeGreaterThan(1)
    expect(commits).toBeLessThan(20)
  })

  it("prunes images given by URL without fetching them, and counts them by a fallback", async () => {
    const url = (n: number) =>
      ({ type: "image_url", image_url: { url: `https://example.com/${n}.png` } }) as TestBlock
    const { messages, report } = await memoryOf({ keep: 1, thumbnails: 2 }).prepare(
      historyOf([0, 1, 2].map((n) => [url(n)]))
    )
    expect(report.before.images).toBe(3)
    expect(report.before.tokens).toBeGreaterThan(3 * 1000)
    expect(texts(shownIn(messages).flat())).toEqual([
      expect.stringMatching(/^\[image; an older screenshot/),
      expect.stringMatching(/^\[image; an older screenshot/),
      "image_url"
    ])
  })

  it("gives tiny images a short text, and leaves them where any text would cost more", async () => {
    const icon = (size: number, n: number) => image(pngBase64(size, size, n))
    const steps = [[icon(100, 0)], [icon(16, 1)], [icon(16, 2)]]
    const { messages } = await memoryOf({ keep: 1 }).prepare(historyOf(steps))
    expect(texts(shownIn(messages).flat())).toEqual(["[image left out]", "image", "image"])
  })

  it("does not touch images for a model that sees none, so that they are there for one that does", async () => {
    const store = (await import("@varve/core")).memoryStore()
    const start = (vision: boolean) =>
      createMemory({
        pipeline: [screenshots({ keep: 1 })],
        profile: { ...defaultProfile, vision },
        commit: Commit.immediate,
        store
      })
    const blind = start(false)
    expect(imagesIn((await blind.prepare(history(3))).messages)).toHaveLength(0)
    await blind.close()
    const seeing = await start(true).prepare(history(3), { dryRun: true })
    expect(seeing.report.before.images).toBe(3)
    expect(imagesIn(seeing.messages)).toEqual([png(2)])
  })

  it("refuses a wrong option with its path", () => {
    expect(() => screenshots({ keep: -1 })).toThrow(/screenshots\.keep: got -1/)
    expect(() => screenshots({ kept: 3 } as never)).toThrow(/screenshots\.kept/)
    expect(() => screenshots({ thumbnails: { edge: 4 } })).toThrow(/screenshots\.thumbnails\.edge/)
    expect(() => screenshots({ thumbnails: { format: "gif" as never } })).toThrow(/format/)
    expect(() => screenshots({ duplicates: { threshold: 2 } })).toThrow(/threshold/)
  })
})
