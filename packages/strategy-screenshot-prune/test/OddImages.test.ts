import { readFileSync } from "node:fs"
import { extname, join } from "node:path"
import { Commit, createMemory, hardLimit } from "@varve/core"
import type { Message } from "@varve/core/Message"
import { checkValidity } from "@varve/core/Validity"
import { dataDir, requireData } from "@varve-examples/session-readers/Data"
import { deepFreeze } from "@varve/testkit/Freeze"
import sharp from "sharp"
import { describe, expect, it } from "vitest"
import { screenshots } from "../src/index.ts"
import { historyOf, image, imagesIn, screen, shownIn } from "./pictures.ts"

const EDGE = 24

const mimes: Readonly<Record<string, string>> = {
  ".jpg": "image/jpeg",
  ".jpeg": "image/jpeg",
  ".webp": "image/webp",
  ".gif": "image/gif"
}

describe.runIf(requireData("odd images"))("odd images", () => {
  const files = readFileSync(join(dataDir(), "ODD_IMAGES.tsv"), "utf8")
    .split("\n")
    .slice(1)
    .flatMap((line) => (line === "" ? [] : [join(dataDir(), line.split("\t")[0]!)]))
  const base64 = files.map((file) => readFileSync(file, "base64"))
  const blocks = files.map((file, i) => image(base64[i]!, mimes[extname(file)] ?? "image/png"))

  it("pass through as tool results: nothing throws, hangs or comes out as no image", async () => {
    expect(files.length).toBe(292)
    const memory = createMemory({
      pipeline: [
        screenshots({ keep: 1, thumbnails: { edge: EDGE }, duplicates: "near" }),
        hardLimit()
      ],
      profile: (await import("@varve/profiles")).profile("anthropic/claude-opus-5.5"),
      commit: Commit.immediate
    })
    const history = historyOf([
      ...blocks.map((block) => [block]),
      [image(await screen(640, 400, 1))]
    ])
    let sent: ReadonlyArray<unknown> = []
    for (let at = 3; at <= history.length; at += 2) {
      const { messages, report } = await memory.prepare<unknown>(deepFreeze(history.slice(0, at)))
      expect(report.strategies[0]?.error).toBeUndefined()
      expect(report.faults).toEqual([])
      sent = messages
      await memory.flush()
    }
    await memory.close()
    expect(checkValidity(sent as ReadonlyArray<Message>)).toEqual([])
    const shown = shownIn(sent)
    expect(shown.every((list) => list.length > 0)).toBe(true)
    let thumbnails = 0
    for (const block of imagesIn(sent)) {
      if (blocks.includes(block) || block.mimeType === "image/png") continue
      const { height, width } = await sharp(Buffer.from(block.data!, "base64")).metadata()
      expect(Math.max(width, height)).toBeLessThanOrEqual(EDGE)
      thumbnails++
    }
    expect(thumbnails).toBeGreaterThan(30)
    const reasons = shown
      .flat()
      .flatMap(({ text }) => /no thumbnail, ([^;]+)/.exec(text ?? "")?.[1] ?? [])
    expect(new Set(reasons)).toEqual(
      new Set([
        "it is damaged",
        "it is not an image of a known kind",
        "it is of a kind that can't be read"
      ])
    )
  }, 120_000)
})
