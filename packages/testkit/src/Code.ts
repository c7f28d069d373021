import type { Message } from "@varve/core/Message"
import type { Growth } from "./Growth.ts"

const sizeOf = (base64: string): readonly [number, number] | undefined => {
  const head = Buffer.from(base64.slice(0, 32), "base64")
  return head.length >= 24 && head.readUInt32BE(0) === 0x89504e47
    ? [head.readUInt32BE(16), head.readUInt32BE(20)]
    : undefined
}

/**
 * A history as code, to be pasted into a test: images stand as `pngBase64` calls of their size, different
 * ones with different seeds, so that no base64 is printed.
 *
 * @example
 * ```ts
 * import { historyAsCode } from "@varve/testkit/Code"
 *
 * console.log(historyAsCode([{ role: "user", content: "hi" }])) // => [ {"role":"user","content":"hi"} ]
 * ```
 */
export const historyAsCode = (history: ReadonlyArray<Message>): string => {
  const seeds = new Map<string, number>()
  const image = (data: string): string | undefined => {
    const size = sizeOf(data)
    if (size === undefined) return undefined
    const seed = seeds.get(data) ?? seeds.size
    seeds.set(data, seed)
    return `pngBase64(${size.join(", ")}, ${seed}${data.length > 1000 ? `, ${data.length}` : ""})`
  }
  const code = (message: unknown): string =>
    (
      JSON.stringify(message, (key, value: unknown) => {
        if (typeof value === "bigint") return `${value}n`
        const call = key === "data" && typeof value === "string" ? image(value) : undefined
        return call === undefined ? value : `\u0001${call}\u0001`
      }) ?? "undefined"
    ).replaceAll(/"\\u0001(.*?)\\u0001"/g, "$1")
  return history.length === 0 ? "[]" : `[\n  ${history.map(code).join(",\n  ")}\n]`
}

/** A session as code: one history with the lengths at which a request was made, else a history a request. */
export const growthAsCode = ({ kind, requests }: Growth): string => {
  const last = requests.at(-1) ?? []
  const grows = requests.every((head) => head.every((message, i) => message === last[i]))
  return grows
    ? `// ${kind}; requests at lengths ${requests.map((r) => r.length).join(", ")}\n${historyAsCode(last)}`
    : `// ${kind}; one history a request\n${requests.map(historyAsCode).join("\n")}`
}
