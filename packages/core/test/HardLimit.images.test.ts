import { createMemory } from "@varve/core/createMemory"
import type { Budget } from "@varve/core/Budget"
import type { Block, Message } from "@varve/core/Message"
import { blocksOf, imageOf, visitBlocks } from "@varve/core/Message"
import { defaultProfile } from "@varve/core/Profile"
import type { ProviderLimits } from "@varve/core/Profile"
import { deepFreeze } from "@varve/testkit/Freeze"
import { measure } from "@varve/testkit/Measure"
import { describe, expect, it } from "vitest"
import {
  assistant,
  image,
  odd,
  result,
  session,
  step,
  task,
  text,
  user
} from "./fixtures/history.ts"
import { counter } from "./fixtures/views.ts"

const guarded = async (
  history: ReadonlyArray<Message>,
  budget: Budget,
  limits: ProviderLimits = {}
) => {
  const memory = createMemory({ budget, profile: { ...defaultProfile, limits }, protectLast: 0 })
  const out = await memory.prepare(deepFreeze(history))
  await memory.close()
  return { ...measure(out.messages, counter), ...out }
}
const imagesOf = (messages: ReadonlyArray<Message>): ReadonlyArray<Block> => {
  const found: Array<Block> = []
  for (const m of messages) visitBlocks(m, (b) => imageOf(b) !== undefined && found.push(b))
  return found
}
/** One prompt, and so many results that are an image and nothing else. */
const shots = (n: number, width = 64, height = 36, bytes = 0) => [
  task,
  ...Array.from({ length: n }, (_, i) => [
    assistant(`c${i}`),
    result(`c${i}`, [image(width, height, i, bytes)])
  ]).flat()
]

describe("a limit on images", () => {
  it("of a request is kept by letting the oldest go; their tokens count; the newest stays", async () => {
    const history = shots(52)
    const { images, messages, report } = await guarded(history, {}, { images: 50 })
    expect(report.before.images).toBe(52)
    expect(report.before.tokens).toBeGreaterThan(
      52 * counter.image({ width: 64, height: 36, format: "png" })
    )
    expect(images).toBeLessThanOrEqual(50)
    const all = imagesOf(history)
    expect(imagesOf(messages)).toEqual(all.slice(-images))
    expect(messages.length).toBe(history.length)
  })

  it("of one message is kept, the oldest of it first", async () => {
    const many = user([
      text("see these"),
      ...Array.from({ length: 25 }, (_, i) => image(20, 20, i))
    ])
    const history = [task, assistant("show me"), many, assistant("I see them"), user("go on")]
    const { mostImagesInMessage, messages, report } = await guarded(
      history,
      {},
      { imagesPerMessage: 20 }
    )
    expect(mostImagesInMessage).toBe(20)
    expect(imagesOf(messages)).toEqual(imagesOf([many]).slice(5))
    expect(report.strategies[0]!.accepted).toBe(5)
  })

  it("of one message holds for the newest message too, that is cut last", async () => {
    const many = user([
      text("see these"),
      ...Array.from({ length: 25 }, (_, i) => image(20, 20, i))
    ])
    const { mostImagesInMessage, messages } = await guarded(
      [task, assistant("show me"), many],
      {},
      { imagesPerMessage: 20 }
    )
    expect(mostImagesInMessage).toBe(20)
    expect(blocksOf(messages[2]!)[0]).toBe(blocksOf(many)[0])
  })

  it("that none has changes nothing", async () => {
    const history = shots(130)
    expect((await guarded(history, {})).messages).toBe(history)
  })
})

describe("a limit on bytes", () => {
  it("of the request acts though tokens are far from theirs, and counts base64 as it is sent", async () => {
    const limit = 32 * 1024 * 1024
    const history = shots(42, 1280, 720, 820_000)
    const { messages, report } = await guarded(
      history,
      { tokens: 1_000_000 },
      { requestBytes: limit }
    )
    expect(report.before.tokens).toBeLessThan(150_000)
    expect(Buffer.byteLength(JSON.stringify(history))).toBeGreaterThan(limit)
    expect(Buffer.byteLength(JSON.stringify(messages))).toBeLessThanOrEqual(limit)
    expect(messages.at(-1)).toBe(history.at(-1))
  })

  it("of all images together adds up many that are small", async () => {
    const history = shots(60, 64, 36, 5000)
    const { imageBytes, messages, images } = await guarded(history, { imageBytes: 200_000 })
    expect(imageBytes).toBeLessThanOrEqual(200_000)
    expect(imageBytes).toBeGreaterThan(0.6 * 200_000)
    expect(imagesOf(messages)).toEqual(imagesOf(history).slice(-images))
  })

  it("of one image takes that one, not the small ones beside it", async () => {
    const history = [
      ...shots(5),
      assistant("big"),
      result("big", [image(64, 36, 99, 90_000)]),
      ...shots(3).slice(1)
    ]
    const { messages, largestImage } = await guarded(history, {}, { bytesPerImage: 50_000 })
    expect(largestImage).toBeLessThan(50_000)
    expect(imagesOf(messages).length).toBe(8)
  })

  it("of long texts takes texts", async () => {
    const history = [...session(12, { images: 0, words: 900 }), user("go on")]
    const { messages, report } = await guarded(history, { requestBytes: 40_000 })
    expect(report.before.requestBytes).toBeGreaterThan(40_000)
    expect(Buffer.byteLength(JSON.stringify(messages))).toBeLessThan(40_000)
  })
})

describe("a limit on edges", () => {
  it("of an image takes every one that is larger, and none that is as large", async () => {
    const sizes = [500, 501, 2000, 499, 500]
    const history = [
      task,
      ...sizes.flatMap((w, i) => [assistant(`c${i}`), result(`c${i}`, [image(w, 100, i)])]),
      assistant("so be it")
    ]
    const { largestEdge, messages } = await guarded(history, { maxEdge: 500 })
    expect(largestEdge).toBe(500)
    expect(imagesOf(messages).length).toBe(3)
  })

  it("of the newest screenshot holds too: a request that is refused shows nothing at all", async () => {
    const { largestEdge, messages } = await guarded(shots(2, 900, 100), { maxEdge: 500 })
    expect(largestEdge).toBe(0)
    expect(messages.length).toBe(5)
  })

  const rule = { manyImages: { over: 20, maxEdge: 2000 } }
  it.each([
    [20, 2400, 20],
    [21, 2000, 21],
    // One too many: one goes, then there are not so many.
    [21, 2001, 20],
    [25, 2400, 20],
    [40, 2000, 40]
  ])("lowered by many images is exact: of %i with %i px, %i stay", async (n, edge, stay) => {
    const history = shots(n, edge, 10)
    const { images, messages } = await guarded(history, {}, rule)
    expect(images).toBe(stay)
    if (stay === n) expect(messages).toBe(history)
    else expect(imagesOf(messages)).toEqual(imagesOf(history).slice(-stay))
  })

  it("lowered by many images takes the large ones where they are the fewer", async () => {
    const history = [
      task,
      assistant("big"),
      result("big", [image(2200, 100, 9)]),
      ...shots(29).slice(1)
    ]
    const { images, messages } = await guarded(history, {}, rule)
    expect(images).toBe(29)
    expect(imagesOf(messages)).toEqual(imagesOf(history).slice(1))
  })

  it("made to fit stays so on later turns: the same cards, nothing comes back", async () => {
    const memory = createMemory({ profile: { ...defaultProfile, limits: rule }, protectLast: 0 })
    const history = shots(40, 2400, 10)
    let before: ReadonlyArray<Message> = []
    for (let n = 10; n <= 40; n++) {
      const { messages } = await memory.prepare(history.slice(0, 1 + 2 * n))
      expect(imagesOf(messages).length).toBeLessThanOrEqual(20)
      const cards = (m: ReadonlyArray<Message>) => m.map((x) => imagesOf([x]).length === 0)
      cards(before).forEach((gone, i) => gone && expect(messages[i]).toBe(before[i]))
      before = messages
    }
  })
})

describe("images of every host's shape", () => {
  const data = (i: number) => (image(64, 36, i) as { readonly data: string }).data
  const shapes: ReadonlyArray<(i: number) => Block> = [
    (i) => image(64, 36, i),
    (i) =>
      odd({ type: "image", source: { type: "base64", media_type: "image/png", data: data(i) } }),
    (i) => odd({ type: "image_url", image_url: { url: `data:image/png;base64,${data(i)}` } }),
    (i) => odd({ type: "input_image", image_url: `data:image/png;base64,${data(i)}` }),
    (i) => odd({ type: "image", image: data(i), mediaType: "image/png" }),
    (i) => odd({ type: "file", data: data(i), mediaType: "image/png" }),
    (i) => odd({ type: "tool_result", tool_use_id: "t", content: [image(64, 36, i)] }),
    (i) =>
      odd({
        type: "tool-result",
        output: {
          type: "content",
          value: [odd({ type: "media", data: data(i), mediaType: "image/png" })]
        }
      }),
    (i) => odd({ type: "image_url", image_url: { url: `https://example.org/${i}.png` } }),
    (i) => odd({ type: "input_image", file_id: `file-${i}` })
  ]
  it("are counted alike and replaced alike: what is counted afterwards is within the limit", async () => {
    const history = [
      task,
      ...shapes.flatMap((shape, i) => [user([text(`image ${i}`), shape(i)]), assistant("I see")]),
      user("go on")
    ]
    for (let limit = shapes.length - 1; limit >= 1; limit--) {
      const { messages, report } = await guarded(history, { images: limit })
      expect(report.before.images).toBe(shapes.length)
      expect(imagesOf(messages).length).toBe(report.after.images)
      expect(report.after.images).toBeLessThanOrEqual(limit)
      expect(messages.length).toBe(history.length)
    }
  })

  it("by URL aren't fetched: they cost a figure of their own and can be taken out", async () => {
    const url = (i: number) => user([text(`see ${i}`), shapes[8]!(i)])
    const history = [
      task,
      ...[1, 2, 3, 4].flatMap((i) => [url(i), assistant("I see")]),
      user("go on")
    ]
    const { messages, report } = await guarded(history, { images: 2 })
    expect(report.before.tokens).toBeGreaterThan(4 * counter.image(undefined))
    expect(JSON.stringify(messages)).not.toContain("example.org/1.png")
    expect(JSON.stringify(messages)).toContain("example.org/4.png")
  })
})

describe("where an image stood", () => {
  it("a card stands, so that no text speaks of what isn't there and no message is empty", async () => {
    const history = [
      task,
      user([text("see the attached image"), image(64, 36, 1)]),
      assistant("I see it"),
      user([image(64, 36, 2)]),
      assistant("and this one"),
      ...step(1, { words: 3 }),
      ...step(2, { words: 3 })
    ]
    const { messages } = await guarded(history, { images: 1 })
    for (const m of messages) expect(blocksOf(m).length).toBeGreaterThan(0)
    // A card costs more than so small an image: a few words stand for it.
    expect(JSON.stringify(messages[1])).toMatch(/attached image.*\[image left out\]/)
    expect(JSON.stringify(messages[3])).toContain("[image left out]")
    expect(JSON.stringify(messages[6])).toContain("[image 1280x720; over the limit; recall ")
  })

  it("the same card stands each time, costs less, and pruning again changes nothing", async () => {
    const history = session(8)
    const one = await guarded(history, { images: 2 })
    const two = await guarded(structuredClone(history), { images: 2 })
    expect(two.messages).toEqual(one.messages)
    expect(one.tokens).toBeLessThan(measure(history, counter).tokens)
    const again = await guarded(one.messages, { images: 2 })
    expect(again.messages).toBe(one.messages)
  })
})
