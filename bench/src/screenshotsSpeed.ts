/**
 * What thumbnails cost: whole images through the strategy against the same calls of bare sharp in one run, and
 * the time that pruning adds to a request once a session is under way. Best of rounds that take turns; quote
 * the ratios, not the ms.
 *
 * `node --conditions=@varve/source src/screenshotsSpeed.ts`
 */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { Commit, createMemory, defaultProfile } from "@varve/core"
import type { PlainMemory } from "@varve/core"
import { dataDir, hasData } from "@varve-examples/session-readers/Data"
import type { ScreenshotsOptions } from "@varve/strategy-screenshot-prune"
import type { Strategy } from "@varve/core"
import { screenshots } from "@varve/strategy-screenshot-prune"
import * as Effect from "effect/Effect"
import { availableParallelism } from "node:os"
import sharp from "sharp"
import { ownRecording } from "./screenshotsRuns.ts"

interface Block {
  readonly type: string
  readonly data?: string
}

const ROUNDS = 5

const own = (): ReadonlyArray<string> => [
  ...new Set(
    ownRecording().messages.flatMap((message) => {
      const { content } = message as { readonly content: string | ReadonlyArray<Block> }
      if (typeof content === "string") return []
      return content.flatMap(({ data, type }) => (type === "image" && data ? [data] : []))
    })
  )
]

const folder = (name: string): ReadonlyArray<string> =>
  readdirSync(join(dataDir(), name)).map((file) =>
    readFileSync(join(dataDir(), name, file), "base64")
  )

/** A history in which every image is a tool result. */
const historyOf = (images: ReadonlyArray<string>): ReadonlyArray<unknown> => [
  { role: "user", content: "Look at every page." },
  ...images.flatMap((data, i) => [
    {
      role: "assistant",
      content: [{ type: "toolCall", id: `c${i}`, name: "look", arguments: { page: i } }]
    },
    {
      role: "toolResult",
      toolCallId: `c${i}`,
      toolName: "look",
      isError: false,
      content: [
        { type: "text", text: `Page ${i} with its list of orders and the total at its end.` },
        { type: "image", data, mimeType: "image/png" }
      ]
    }
  ])
]

/** As many workers as the strategy has slots, each with the call that it makes. */
const bare = async (images: ReadonlyArray<string>): Promise<void> => {
  const left = [...images]
  const worker = async (): Promise<void> => {
    for (let data = left.shift(); data !== undefined; data = left.shift()) {
      const small = await sharp(Buffer.from(data, "base64"))
        .autoOrient()
        .resize({ width: 512, height: 512, fit: "inside", withoutEnlargement: true })
        .webp({ quality: 60 })
        .toBuffer()
      small.toString("base64")
    }
  }
  const workers = Math.max(1, Math.min(4, availableParallelism()))
  await Promise.all(Array.from({ length: workers }, worker))
}

const ours = async (images: ReadonlyArray<string>, options: ScreenshotsOptions): Promise<void> => {
  const memory = createMemory({ pipeline: [screenshots(options)] })
  await memory.prepare(historyOf(images))
  await memory.flush()
  await memory.close()
}

const timed = async (work: () => Promise<void>): Promise<number> => {
  const from = performance.now()
  await work()
  return performance.now() - from
}

const throughput = async (name: string, images: ReadonlyArray<string>): Promise<void> => {
  const all = { keep: 0, thumbnails: true, duplicates: false } as const
  await bare(images.slice(0, 2))
  const best = { bare: Infinity, ours: Infinity, near: Infinity }
  for (let round = 0; round < ROUNDS; round++) {
    best.bare = Math.min(best.bare, await timed(() => bare(images)))
    best.ours = Math.min(best.ours, await timed(() => ours(images, all)))
    best.near = Math.min(best.near, await timed(() => ours(images, { ...all, duplicates: "near" })))
  }
  const ms = (total: number): string => (total / images.length).toFixed(1)
  const ratio = (total: number): string => (total / best.bare).toFixed(2)
  console.log(
    `${name}, ${images.length} images: bare sharp ${ms(best.bare)} ms an image, the strategy ` +
      `${ms(best.ours)} (x ${ratio(best.ours)}), with near frames ${ms(best.near)} (x ${ratio(best.near)})`
  )
}

/** Memory and time of the odd images, each as a tool result. */
const odd = async (): Promise<void> => {
  const files = readFileSync(join(dataDir(), "ODD_IMAGES.tsv"), "utf8")
    .split("\n")
    .slice(1)
    .flatMap((line) => (line === "" ? [] : [join(dataDir(), line.split("\t")[0]!)]))
  const images = files.map((file) => readFileSync(file, "base64"))
  const idle = process.memoryUsage().rss
  const ms = await timed(() =>
    ours(images, { keep: "all", duplicates: "near", thumbnails: { edge: 24 } })
  )
  const peak = process.resourceUsage().maxRSS * 1024
  console.log(
    `odd images, ${images.length}: ${ms.toFixed(0)} ms; the process had ${mb(idle)} before, ${mb(peak)} at most`
  )
}

const mb = (bytes: number): string => `${Math.round(bytes / 1e6)} MB`

/** What all but a fifth of the values are above: other work on the machine only ever adds. */
const quiet = (values: ReadonlyArray<number>): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 5)] ?? 0

/** A strategy whose own time, until it has its proposals, is added to a sum. */
const clocked = (strategy: Strategy, sum: { ms: number }): Strategy => ({
  ...strategy,
  start: Effect.map(
    strategy.start,
    (propose) => (view) =>
      Effect.suspend(() => {
        const from = performance.now()
        return Effect.tap(propose(view), () =>
          Effect.sync(() => void (sum.ms += performance.now() - from))
        )
      })
  )
})

/** `prepare` over the requests of a session of so many messages, in µs. */
const steady = async (messages: number): Promise<void> => {
  const pictures = own()
  const images = Array.from({ length: messages / 2 }, (_, i) => pictures[i % pictures.length]!)
  const history = historyOf(images)
  const policies: ReadonlyArray<readonly [string, ScreenshotsOptions | undefined]> = [
    ["no strategy", undefined],
    ["cards", { keep: 3 }],
    ["thumbnails", { keep: 3, thumbnails: 8 }],
    ["thumbnails, near frames", { keep: 3, thumbnails: 8, duplicates: "near" }]
  ]
  const sums = policies.map(() => ({ ms: 0 }))
  const memories = policies.map(([, options], i): PlainMemory =>
    createMemory({
      pipeline: options === undefined ? [] : [clocked(screenshots(options), sums[i]!)],
      profile: { ...defaultProfile, contextWindow: 2_000_000_000 },
      commit: Commit.batched({ size: 10 })
    })
  )
  const whole: Array<Array<number>> = policies.map(() => [])
  const inside: Array<Array<number>> = policies.map(() => [])
  const begin = history.length - 200
  for (let at = begin; at <= history.length; at += 2) {
    const head = history.slice(0, at)
    for (const [i, memory] of memories.entries()) {
      sums[i]!.ms = 0
      const from = performance.now()
      const { report } = await memory.prepare(head)
      const took = performance.now() - from
      await memory.flush()
      if (report.commit.committed === 0 && at > begin + 20) {
        whole[i]!.push(took)
        inside[i]!.push(sums[i]!.ms)
      }
    }
  }
  const base = quiet(whole[0]!)
  console.log(
    `\n${messages} messages, requests that commit nothing: ${(base * 1000).toFixed(0)} µs`
  )
  for (const [i, [name]] of policies.entries()) {
    if (i === 0) continue
    const more = ((quiet(whole[i]!) - base) * 1000).toFixed(0)
    const own = (quiet(inside[i]!) * 1000).toFixed(0)
    console.log(`  ${name}: ${more} µs more, ${own} µs of them in the strategy itself`)
  }
  for (const memory of memories) await memory.close()
}

if (hasData()) await odd()
await throughput("1280x720 PNG", own())
if (hasData()) await throughput("3840x2160", folder("playwright-4k"))
for (const messages of [1000, 10_000]) await steady(messages)
