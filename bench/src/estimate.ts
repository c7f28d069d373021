// The token estimate of core against tiktoken on the real sessions: error and speed.
import { estimateTokens } from "@varve/core/Estimate"
import { requireData } from "@varve-examples/session-readers/Data"
import { sessions } from "@varve-examples/session-readers/Sessions"
import { get_encoding } from "tiktoken"

/** Texts of a value of 600 characters and more, in pieces of at most 8 000; no images, no signatures. */
const textsOf = (value: unknown, found: Set<string>): Set<string> => {
  if (typeof value === "string") {
    for (let at = 0; at < value.length; at += 8000) {
      const piece = value.slice(at, at + 8000).toWellFormed()
      if (piece.length >= 600 && !/\S{2000}/.test(piece)) found.add(piece)
    }
  } else if (Array.isArray(value)) for (const item of value) textsOf(item, found)
  else if (typeof value === "object" && value !== null)
    for (const [key, item] of Object.entries(value))
      if (!/data|signature/i.test(key)) textsOf(item, found)
  return found
}

/** Best of five runs, in MB of UTF-8 a second of processor time. */
const speed = (texts: ReadonlyArray<string>, count: (text: string) => number): number => {
  const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0)
  let best = Infinity
  for (let run = 0; run < 5; run++) {
    const start = process.cpuUsage()
    for (const text of texts) count(text)
    const { user, system } = process.cpuUsage(start)
    best = Math.min(best, user + system)
  }
  return bytes / best
}

const percent = (share: number) => Number((100 * share).toFixed(1))

if (requireData("the benchmark of the token estimate")) {
  const encoding = get_encoding("o200k_base")
  const exact = (text: string) => encoding.encode_ordinary(text).length
  const rows: Array<Record<string, string | number>> = []
  const all: Array<string> = []
  const measure = (name: string, texts: ReadonlyArray<string>) => {
    const real = texts.map(exact)
    const mean = (estimate: (text: string) => number) =>
      percent(
        texts.reduce((sum, t, i) => sum + Math.abs(estimate(t) / real[i]! - 1), 0) / texts.length
      )
    const total = real.reduce((a, b) => a + b, 0)
    rows.push({
      name,
      texts: texts.length,
      tokens: total,
      "error %": mean(estimateTokens),
      "of the sum %": percent(texts.reduce((sum, t) => sum + estimateTokens(t), 0) / total - 1),
      "chars/4 %": mean((t) => t.length / 4),
      "chars/3 %": mean((t) => t.length / 3)
    })
  }
  for (const entry of sessions()) {
    const texts = [...textsOf(entry.read().messages, new Set())]
    if (texts.length === 0) continue
    measure(entry.name, texts)
    all.push(...texts)
  }
  measure("all", all)
  console.table(rows)
  const own = speed(all, estimateTokens)
  const tiktoken = speed(all, exact)
  console.log(
    `estimate ${own.toFixed(0)} MB/s, tiktoken ${tiktoken.toFixed(1)} MB/s, ratio ${(own / tiktoken).toFixed(0)}`
  )
  encoding.free()
}
