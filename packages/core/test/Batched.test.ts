import { describe, expect, it } from "vitest"
import * as Commit from "../src/Commit.ts"
import { createMemory } from "../src/createMemory.ts"
import * as Edit from "../src/Edit.ts"
import { imageCard } from "../src/ImageCard.ts"
import { strategy } from "../src/Strategy.ts"

const png = (edge: number, n: number) => {
  const head = Buffer.from("89504e470d0a1a0a0000000d49484452", "hex")
  const size = Buffer.alloc(8)
  size.writeUInt32BE(edge, 0)
  size.writeUInt32BE(edge, 4)
  return Buffer.concat([head, size, Buffer.alloc(900, n)]).toString("base64")
}

const history = (steps: number) => [
  { role: "user", content: "Look." },
  ...Array.from({ length: steps }, (_, i) => [
    {
      role: "assistant",
      content: [{ type: "toolCall", id: `c${i}`, name: "look", arguments: {} }]
    },
    {
      role: "toolResult",
      toolCallId: `c${i}`,
      toolName: "look",
      isError: false,
      content: [{ type: "image", data: png(900, i), mimeType: "image/png" }]
    }
  ]).flat()
]

/** The newest stays, two are made smaller, the rest are cards. */
const ladder = strategy("ladder", (view) =>
  view.images.slice(0, -1).flatMap((image, i, all) => {
    if (i < all.length - 2) return [Edit.replace(image.block, imageCard(image, view, "old"))]
    if (image.rank === 1) return []
    const small = { type: "image", data: png(200, 1).slice(0, 200), mimeType: "image/png" } as const
    return [Edit.replace(image.block, small, 1)]
  })
)

describe("Commit.batched", () => {
  it("counts a block once, and not again on its way from a smaller form to a card", async () => {
    const memory = createMemory({ pipeline: [ladder], commit: Commit.batched({ size: 4 }) })
    const commits: Array<number> = []
    for (let steps = 1; steps <= 21; steps++) {
      const { report } = await memory.prepare(history(steps))
      if (report.commit.committed > 0) commits.push(steps)
    }
    expect(commits).toEqual([5, 9, 13, 17, 21])
  })
})

describe("budget", () => {
  it("takes the limits of images that a profile has", async () => {
    const asked = async (budget: object) =>
      (await createMemory({ pipeline: [], budget }).prepare(history(3))).report.over
    expect(await asked({ bytesPerImage: 1000 })).toEqual([
      "1232 bytes of one image, the limit is 1000"
    ])
    expect(await asked({ manyImages: { over: 2, maxEdge: 800 } })).toEqual([
      "900 px of an edge, the limit is 800"
    ])
    expect(await asked({ manyImages: { over: 3, maxEdge: 800 } })).toEqual([])
    expect(() => createMemory({ budget: { imagesPerMessage: 0 } })).toThrow(/imagesPerMessage/)
  })
})
