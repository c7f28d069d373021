import type { ReportedUsage } from "@varve/core/Memory"

type Loose = Readonly<Record<string, unknown>>

const record = (u: unknown): Loose => (typeof u === "object" && u !== null ? (u as Loose) : {})

const count = (u: unknown): number | undefined =>
  typeof u === "number" && Number.isFinite(u) && u >= 0 ? u : undefined

/**
 * The usage of an answer: of a model, which has figures within `inputTokens`, or of a step, which has them
 * beside it. Nothing where it has no figure, and for an answer that failed.
 */
export const usageOf = (answer: unknown): ReportedUsage | undefined => {
  const { finishReason, usage } = record(answer)
  if (finishReason === "error" || record(finishReason)["unified"] === "error") return undefined
  const { inputTokenDetails, inputTokens, outputTokens } = record(usage)
  const inner = record(inputTokens)
  const details = record(inputTokenDetails)
  const cacheRead = count(inner["cacheRead"] ?? details["cacheReadTokens"]) ?? 0
  const cacheWrite = count(inner["cacheWrite"] ?? details["cacheWriteTokens"]) ?? 0
  const total = count(inner["total"] ?? inputTokens)
  const input =
    count(inner["noCache"] ?? details["noCacheTokens"]) ??
    (total === undefined ? undefined : Math.max(0, total - cacheRead - cacheWrite))
  if (input === undefined || input + cacheRead + cacheWrite === 0) return undefined
  const output = count(record(outputTokens)["total"] ?? outputTokens)
  return { input, cacheRead, cacheWrite, ...(output === undefined ? {} : { output }) }
}
