import { Commit, createMemory, memoryStore } from "@varve/core"
import { deepFreeze } from "@varve/testkit/Freeze"
import { pngBase64 } from "@varve/testkit/Png"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { ScreenshotsOptions } from "../src/index.ts"
import { difference, screenshots } from "../src/index.ts"
import type { TestBlock } from "./pictures.ts"
import { historyOf, image, imagesIn, screen, shownIn, touched } from "./pictures.ts"

const kinds = (messages: ReadonlyArray<unknown>): string =>
  shownIn(messages)
    .flat()
    .map(({ text, type }) => {
      if (type === "image") return "I"
      if (text?.includes("screen as in the next step") === true) return "="
      if (text?.includes("screen nearly as in the next step") === true) return "~"
      return text?.includes("the same screen came again later") === true ? "<" : "c"
    })
    .join("")

const run = async (images: ReadonlyArray<TestBlock>, options: ScreenshotsOptions) => {
  const memory = createMemory({ pipeline: [screenshots(options)], commit: Commit.immediate })
  const all = deepFreeze(historyOf(images.map((block) => [block])))
  let sent: ReadonlyArray<unknown> = []
  for (let at = 3; at <= all.length; at += 2) {
    sent = (await memory.prepare<unknown>(all.slice(0, at))).messages
    await memory.flush()
  }
  await memory.close()
  return sent
}

const png = (n: number) => image(pngBase64(1280, 720, n))

describe("equal frames", () => {
  it("give way to the newest of them, whatever stands between", async () => {
    const frames = [1, 1, 1, 2, 1, 3, 1].map(png)
    expect(kinds(await run(frames, { keep: 9 }))).toBe("==<I<II")
  })

  it("stay where duplicates are not looked for", async () => {
    const frames = [1, 1, 1].map(png)
    expect(kinds(await run(frames, { keep: 9, duplicates: false }))).toBe("III")
  })

  it("do not count as kept ones", async () => {
    const frames = [1, 2, 3, 3, 3, 3].map(png)
    expect(kinds(await run(frames, { keep: 3 }))).toBe("II===I")
  })

  it("are told apart by every byte, however alike they are", async () => {
    const data = pngBase64(1280, 720, 1, 40_000)
    const other = data.slice(0, 1777) + (data[1777] === "A" ? "B" : "A") + data.slice(1778)
    expect(kinds(await run([image(data), image(other), png(3)], { keep: 9 }))).toBe("III")
  })

  it("get cards that hold without any other frame", async () => {
    const frames = [1, 1, 2, 3, 4, 5].map(png)
    const sent = await run(frames, { keep: 1 })
    expect(imagesIn(sent)).toHaveLength(1)
    const [card] = shownIn(sent)[0]!
    // Its own id is all that it names; the frame that repeated it is a card by now.
    expect(card?.text).toMatch(/^\[image 1280x720; screen as in the next step; recall (\S+)\]$/)
  })
})

describe("nearly equal frames", () => {
  it("become cards once the next one is not the newest any more", async () => {
    const frames = [
      image(await screen(640, 400, 1)),
      image(await touched(1, 8)),
      image(await screen(640, 400, 2))
    ]
    expect(kinds(await run(frames.slice(0, 2), { keep: 9, duplicates: "near" }))).toBe("II")
    expect(kinds(await run(frames, { keep: 9, duplicates: "near" }))).toBe("~II")
  })

  it("are others where more than the threshold differs", async () => {
    const frames = [
      image(await screen(640, 400, 1)),
      image(await touched(1, 90)),
      image(await screen(640, 400, 2))
    ]
    expect(kinds(await run(frames, { keep: 9, duplicates: "near" }))).toBe("III")
    expect(kinds(await run(frames, { keep: 9, duplicates: { threshold: 0.2 } }))).toBe("~II")
  })

  it("leave one of every streak, so that slow changes don't add up", async () => {
    const frames = await Promise.all(
      Array.from({ length: 14 }, async (_, i) => image(await touched(1, 6, 20 + 2 * i)))
    )
    const sent = await run(frames, { keep: 20, duplicates: { streak: 4 } })
    expect(kinds(sent)).toBe("~~~I~~~I~~~III")
  })

  it("are looked for where only the newest stays, too", async () => {
    const frames = [1, 1, 2, 2].map(async (seed, i) => image(await touched(seed, 6, 20 + 2 * i)))
    const sent = await run(await Promise.all(frames), {
      keep: 1,
      thumbnails: 2,
      duplicates: "near"
    })
    expect(kinds(sent)).toBe("~Ic~I")
  })

  it("are decided alike by a memory that is made anew at every request", async () => {
    const frames = await Promise.all(
      [1, 1, 1, 2, 2, 3].map(async (seed, i) => image(await touched(seed, 6, 20 + 2 * i)))
    )
    const options = { keep: 2, thumbnails: 2, duplicates: "near" } as const
    const straight = await run(frames, options)
    const store = memoryStore()
    const all = historyOf(frames.map((block) => [block]))
    let sent: ReadonlyArray<unknown> = []
    for (let at = 3; at <= all.length; at += 2) {
      const memory = createMemory({
        pipeline: [screenshots(options)],
        commit: Commit.immediate,
        store
      })
      sent = (await memory.prepare<unknown>(all.slice(0, at))).messages
      await memory.close()
    }
    expect(sent).toEqual(straight)
  })
})

describe("difference", () => {
  const grey = fc
    .tuple(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 9 }))
    .chain(([width, height]) =>
      fc
        .uint8Array({ minLength: width * height, maxLength: width * height })
        .map((cells) => ({ width, height, cells }))
    )

  it("is none from itself, the same both ways, and a share", () => {
    fc.assert(
      fc.property(grey, grey, (a, b) => {
        const d = difference(a, b)
        expect(difference(a, a)).toBe(0)
        expect(difference(b, a)).toBe(d)
        expect(d >= 0 && d <= 1).toBe(true)
        if (a.width !== b.width || a.height !== b.height) expect(d).toBe(1)
      })
    )
  })
})
