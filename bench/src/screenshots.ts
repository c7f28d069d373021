/**
 * What pruning screenshots does to real sessions: images, tokens, bytes and prefix changes, summed over all
 * requests, for nothing, the classic window, batches, batches with thumbnails, and near-identical frames too.
 * Every session that is there is replayed request by request.
 *
 * `node --conditions=@varve/source src/screenshots.ts [SHEET.png]`: with a path, a sheet is written that shows what
 * the last request of each session still shows, thumbnails at their true size.
 */
import type { CommitRule } from "@varve/core/Commit"
import { Commit, createMemory } from "@varve/core"
import { profile } from "@varve/profiles"
import type { ScreenshotsOptions } from "@varve/strategy-screenshot-prune"
import { screenshots } from "@varve/strategy-screenshot-prune"
import { tiktokenCounter } from "@varve/tokenizer"
import type { Run } from "./screenshotsRuns.ts"
import { runs } from "./screenshotsRuns.ts"
import { writeSheet } from "./screenshotsSheet.ts"

interface Policy {
  readonly name: string
  readonly options: ScreenshotsOptions | undefined
  readonly commit: CommitRule
}

const KEEP = 3
const BATCH = 5

const policies: ReadonlyArray<Policy> = [
  { name: "nothing", options: undefined, commit: Commit.immediate },
  {
    name: "classic window",
    options: { keep: KEEP, duplicates: false, placeholder: "classic" },
    commit: Commit.immediate
  },
  {
    name: "batches",
    options: { keep: KEEP, duplicates: false },
    commit: Commit.batched({ size: BATCH })
  },
  {
    name: "batches, thumbnails",
    options: { keep: KEEP, thumbnails: 8, duplicates: false },
    commit: Commit.batched({ size: BATCH })
  },
  {
    name: "... near-identical",
    options: { keep: KEEP, thumbnails: 8, duplicates: "near" },
    commit: Commit.batched({ size: BATCH })
  },
  {
    name: "... when it pays",
    options: { keep: KEEP, thumbnails: 8, duplicates: "near" },
    commit: Commit.whenItPays()
  }
]

interface Row {
  readonly images: number
  readonly most: number
  readonly tokens: number
  readonly bytes: number
  readonly changes: number
  /** USD of input by the profile's cache prices, with a prefix that is cached as far as it is unchanged. */
  readonly cost: number
  readonly cards: ReadonlyArray<string>
  readonly last: ReadonlyArray<unknown>
}

const model = profile("anthropic/claude-opus-5.5")

const replay = async ({ messages, requests }: Run, { commit, options }: Policy): Promise<Row> => {
  const memory = createMemory({
    pipeline: options === undefined ? [] : [screenshots(options)],
    profile: model,
    counter: tiktokenCounter(),
    commit
  })
  let [images, most, tokens, bytes, changes, cost] = [0, 0, 0, 0, 0, 0]
  let last: ReadonlyArray<unknown> = []
  for (const at of requests) {
    const { messages: sent, report } = await memory.prepare<unknown>(messages.slice(0, at))
    const { after, kept } = report
    images += after.images
    most = Math.max(most, after.images)
    tokens += after.tokens
    bytes += after.imageBytes
    const changed = last.findIndex((message, i) => message !== sent[i])
    if (changed >= 0) changes++
    const read = Math.min(after.tokens, kept.tokens)
    const { cacheRead, cacheWrite } = model.prices
    cost += (read * cacheRead + (after.tokens - read) * cacheWrite) / 1e6
    last = sent
    await memory.flush()
  }
  const cards = memory.explain().map(({ reason }) => reason)
  await memory.close()
  return { images, most, tokens, bytes, changes, cost, cards, last }
}

const thousands = (n: number): string => n.toLocaleString("en").replaceAll(",", " ")

const line = (cells: ReadonlyArray<string | number>): string =>
  cells.map((cell, i) => (i === 0 ? String(cell).padEnd(20) : String(cell).padStart(12))).join(" ")

const sheet = process.argv[2]
const shown: Array<{ readonly name: string; readonly messages: ReadonlyArray<unknown> }> = []
for (const run of runs()) {
  console.log(`\n${run.name}: ${run.requests.length} requests, ${run.images} images`)
  console.log(line(["", "images", "most", "tokens", "bytes", "changes", "USD input", "alike"]))
  for (const policy of policies) {
    const row = await replay(run, policy)
    const alike = row.cards.filter((reason) => /^(screen |the same screen)/.test(reason)).length
    console.log(
      line([
        policy.name,
        row.images,
        row.most,
        thousands(row.tokens),
        thousands(row.bytes),
        row.changes,
        row.cost.toFixed(4),
        policy.options === undefined || policy.options.duplicates === false ? "-" : alike
      ])
    )
    if (policy.name === "... near-identical") shown.push({ name: run.name, messages: row.last })
  }
}
if (sheet !== undefined) {
  await writeSheet(sheet, shown)
  console.log(`\nWritten: ${sheet}`)
}
