// The tables of docs/limits-by-provider.md, from the data.
import type { Profile } from "@varve/core/Profile"
import { anthropic } from "../src/data/anthropic.ts"
import { deepseek } from "../src/data/deepseek.ts"
import { google } from "../src/data/google.ts"
import { meta } from "../src/data/meta.ts"
import { minimax } from "../src/data/minimax.ts"
import { mistral } from "../src/data/mistral.ts"
import { moonshotai } from "../src/data/moonshotai.ts"
import { openai } from "../src/data/openai.ts"
import { qwen } from "../src/data/qwen.ts"
import { xai } from "../src/data/xai.ts"
import { xiaomi } from "../src/data/xiaomi.ts"
import { zai } from "../src/data/zai.ts"
import { profile } from "../src/index.ts"

const providers = [
  anthropic,
  openai,
  google,
  xai,
  deepseek,
  moonshotai,
  zai,
  qwen,
  minimax,
  mistral,
  xiaomi,
  meta
]

type Row = ReadonlyArray<string>

const table = (head: Row, rows: ReadonlyArray<Row>): string => {
  const widths = head.map((_, i) => Math.max(...[head, ...rows].map((row) => row[i]!.length)))
  const line = (cells: Row) => `| ${cells.map((cell, i) => cell.padEnd(widths[i]!)).join(" | ")} |`
  const rule = `| ${widths.map((n) => "-".repeat(n)).join(" | ")} |`
  return [line(head), rule, ...rows.map(line)].join("\n")
}

/** Thousands apart, as in `1 000 000`. */
const count = (n: number | undefined): string =>
  n === undefined ? "–" : String(n).replaceAll(/\B(?=(\d{3})+$)/g, " ")

const mib = (bytes: number | undefined): string =>
  bytes === undefined ? "–" : `${Number((bytes / 2 ** 20).toFixed(1))} MiB`

const px = (n: number | undefined): string => (n === undefined ? "–" : `${count(n)} px`)

const time = (ms: number): string =>
  ms === 0 ? "–" : ms < 3_600_000 ? `${ms / 60_000} min` : `${ms / 3_600_000} h`

/** What most of a provider's models have, and how many have something else. */
const usual = (all: ReadonlyArray<Profile>, cell: (one: Profile) => string): string => {
  const by = new Map<string, number>()
  for (const text of all.map(cell)) by.set(text, (by.get(text) ?? 0) + 1)
  const [most = "", ...others] = [...by.keys()].toSorted((a, b) => by.get(b)! - by.get(a)!)
  return others.length === 0 ? most : `${most}; ${others.join("; ")}`
}

const profilesOf = ({ models, provider }: (typeof providers)[number]): ReadonlyArray<Profile> =>
  Object.keys(models).map((model) => profile(`${provider}/${model}`))

const limits = (): string =>
  table(
    ["provider", "images", "one image", "longest edge", "many images", "request", "first message"],
    providers.map((facts) => {
      const all = profilesOf(facts).filter(({ vision }) => vision)
      const seeing = all.length === 0 ? profilesOf(facts) : all
      const cell = (of: (limits: Profile["limits"]) => string) =>
        usual(seeing, (one) => of(one.limits))
      return [
        facts.provider,
        all.length === 0 ? "none taken" : cell(({ images }) => count(images)),
        cell(({ bytesPerImage }) => mib(bytesPerImage)),
        cell(({ maxEdge }) => px(maxEdge)),
        cell(({ manyImages: many }) =>
          many === undefined ? "–" : `over ${many.over}: ${px(many.maxEdge)} each`
        ),
        cell(({ requestBytes }) => mib(requestBytes)),
        facts.startsWithUser ? "a user's" : "any"
      ]
    })
  )

const caches = (): string =>
  table(
    ["provider", "cache", "shortest prefix", "lifetime", "reasoning behind an edit"],
    providers.map((facts) => {
      const all = profilesOf(facts)
      return [
        facts.provider,
        usual(all, ({ cache: { kind, marks } }) =>
          kind === "marks" ? `${marks ?? "any"} marks` : kind
        ),
        usual(all, ({ cache: { minimum } }) => count(minimum)),
        usual(all, ({ cache: { lifetime } }) => time(lifetime)),
        usual(
          all,
          ({ reasoning }) => ({ error: "refused", drop: "dropped", none: "kept" })[reasoning]
        )
      ]
    })
  )

const reasoning = ({ reasoning: what }: Profile): string =>
  ({ error: "refused", drop: "dropped", none: "kept" })[what]

const models = (): string =>
  table(
    [
      "model",
      "window",
      "answer",
      "images",
      "cached from",
      "reasoning",
      "input",
      "read",
      "write",
      "output"
    ],
    providers.flatMap((facts) =>
      profilesOf(facts).map((one) => {
        const { cache, contextWindow, limits, model, prices, reserveOutput, vision } = one
        return [
          `\`${model}\``,
          count(contextWindow),
          count(reserveOutput),
          vision ? count(limits.images) : "none",
          cache.kind === "none" ? "–" : count(cache.minimum),
          reasoning(one),
          ...[prices.input, prices.cacheRead, prices.cacheWrite, prices.output].map(String)
        ]
      })
    )
  )

const sources = (): string =>
  providers.map(({ date, provider, source }) => `- **${provider}**, ${date}: ${source}.`).join("\n")

/** What stands between the marks of the page. */
export const parts = { limits, caches, models, sources }
