import type { ImageRule } from "@varve/core/Profile"

/** Pixels of an image as it is displayed. */
export interface Pixels {
  readonly width: number
  readonly height: number
}

type Rule<Name extends ImageRule["rule"]> = Extract<ImageRule, { readonly rule: Name }>

/** What an image of unknown size is taken for: a usual screenshot. */
const SCREENSHOT: Pixels = { width: 1920, height: 1080 }

/** Sizes come from products and quotients of whole numbers: this much off one is that number. */
const NEARLY = 1e-9
const floor = (n: number): number => Math.floor(n + NEARLY)
const ceil = (n: number): number => Math.ceil(n - NEARLY)

/** As Python rounds, which Claude's and Qwen's preprocessors are written in: halves to the even number. */
const roundHalfEven = (n: number): number => {
  const below = Math.floor(n)
  if (Math.abs(n - below - 0.5) > NEARLY) return Math.round(n)
  return below % 2 === 0 ? below : below + 1
}

const patchesOf = (width: number, height: number, patch: number): number =>
  ceil(width / patch) * ceil(height / patch)

/**
 * Claude: patches of 28 px. A larger image is scaled down to the largest size, by whole px of its long edge,
 * whose edges, padded to whole patches, and whose patches stay within the limits.
 */
const claude = (
  { extra = 0, maxEdge, maxTokens, patch }: Rule<"claude">,
  { width, height }: Pixels
): number => {
  const long = Math.max(width, height)
  const short = Math.min(width, height)
  const at = (edge: number): number =>
    patchesOf(
      edge,
      edge === long ? short : Math.max(1, roundHalfEven((edge * short) / long)),
      patch
    )
  const fits = (edge: number): boolean =>
    ceil(edge / patch) * patch <= maxEdge && at(edge) <= maxTokens
  let best = long
  if (!fits(long)) {
    // Patches never fall as the edge grows, so halving finds the largest edge that fits.
    best = 1
    for (let above = long; above - best > 1;) {
      const middle = (best + above) >> 1
      if (fits(middle)) best = middle
      else above = middle
    }
  }
  return at(best) + extra
}

/** OpenAI: patches of 32 px after the downscale of a detail level, by a multiplier. */
const patches = (rule: Rule<"patches">, size: Pixels, detail: string | undefined): number => {
  const { maxEdge = Infinity, maxPatches = Infinity } = level(rule.details, detail, rule.auto) ?? {}
  const { patch } = rule
  let { width, height } = fitInto(size, maxEdge)
  if (patchesOf(width, height, patch) > maxPatches) {
    let scale = Math.sqrt((patch * patch * maxPatches) / (width * height))
    const columns = (width * scale) / patch
    const rows = (height * scale) / patch
    scale *= Math.min(floor(columns) / columns, floor(rows) / rows)
    width = Math.max(1, floor(width * scale))
    height = Math.max(1, floor(height * scale))
  }
  return ceil(patchesOf(width, height, patch) * rule.multiplier)
}

/** OpenAI, earlier: tiles of 512 px in 2 048 px by 2 048 px, the short edge at most 768 px. */
const tiles = ({ base, tile }: Rule<"tiles">, size: Pixels, detail: string | undefined): number => {
  if (detail?.toLowerCase() === "low") return base
  const fitted = fitInto(size, 2048)
  const scale = Math.min(1, 768 / Math.min(fitted.width, fitted.height))
  return base + tile * patchesOf(fitted.width * scale, fitted.height * scale, 512)
}

/** Gemini 2.5: one figure for each tile, for a small image, or for a level that was asked for. */
const geminiTiles = (
  rule: Rule<"geminiTiles">,
  { width, height }: Pixels,
  detail: string | undefined
): number => {
  const asked = level(rule.levels ?? {}, detail, "")
  if (asked !== undefined) return asked
  if (width <= rule.small && height <= rule.small) return rule.tokens
  return rule.tokens * patchesOf(width, height, rule.tile)
}

/** Qwen-VL and GLM-V: both edges rounded to the factor, the area brought within its bounds. */
const resize = (rule: Rule<"resize">, size: Pixels): number => {
  if (rule.pad === true) return padded(rule, size)
  const { extra, factor, maxPixels = Infinity, maxTokens = Infinity, minPixels = 0 } = rule
  const { width, height } = fitInto(size, rule.maxEdge ?? Infinity)
  let columns = Math.max(1, roundHalfEven(width / factor))
  let rows = Math.max(1, roundHalfEven(height / factor))
  const area = columns * rows * factor * factor
  if (area > maxPixels) {
    const scale = Math.sqrt(maxPixels / (width * height))
    columns = Math.max(1, floor((width * scale) / factor))
    rows = Math.max(1, floor((height * scale) / factor))
  } else if (area < minPixels) {
    const scale = Math.sqrt(minPixels / (width * height))
    columns = ceil((width * scale) / factor)
    rows = ceil((height * scale) / factor)
  }
  return Math.min(maxTokens, columns * rows) + extra
}

/** Kimi: only ever made smaller, by its patches of half the factor, then padded up to the factor. */
const padded = (rule: Rule<"resize">, { width, height }: Pixels): number => {
  const { extra, factor, maxEdge = Infinity, maxTokens = Infinity } = rule
  const patch = factor / 2
  const count = Math.floor(width / patch) * Math.floor(height / patch)
  const scale = count > 0 ? Math.min(1, Math.sqrt((4 * maxTokens) / count)) : 1
  const edge = (n: number): number => Math.min(maxEdge, Math.max(1, floor(n * scale)))
  return patchesOf(edge(width), edge(height), factor) + extra
}

const fitInto = (size: Pixels, edge: number): Pixels => {
  const scale = edge / Math.max(size.width, size.height)
  return scale >= 1
    ? size
    : { width: Math.max(1, size.width * scale), height: Math.max(1, size.height * scale) }
}

/** What holds at a level of detail, else at the default one. Gemini's own names begin with `MEDIA_RESOLUTION_`. */
const level = <A>(
  levels: Readonly<Record<string, A>>,
  detail: string | undefined,
  auto: string
): A | undefined => {
  const asked = detail?.toLowerCase().replace(/^media_resolution_/, "")
  return (asked === undefined ? undefined : levels[asked]) ?? levels[auto]
}

/**
 * The tokens of an image by its model's own rule: whole tokens, at least 0. Never fails.
 *
 * `size` is px as displayed, before any resizing by the provider; without it (a URL, an unreadable header) the
 * image is taken for a screenshot of 1920 x 1080 px. `detail` is the level that the request asks for (`low`,
 * `high`, `original`, `ultra_high`); one that the model doesn't have is its default.
 *
 * The rules are those of the providers' documentation and published preprocessors, as read on 2026-11-29; the
 * figures in a rule come from `Profile.image`.
 *
 * @example
 * ```ts
 * import { imageTokens } from "@varve/tokenizer/ImageTokens"
 *
 * const claude = { rule: "claude", patch: 28, maxEdge: 1568, maxTokens: 1568 } as const
 * const gpt4o = { rule: "tiles", base: 85, tile: 170 } as const
 *
 * console.log(imageTokens(claude, { width: 1920, height: 1080 })) // => 1560
 * console.log(imageTokens(gpt4o, { width: 1920, height: 1080 })) // => 1105
 * console.log(imageTokens(gpt4o, { width: 1920, height: 1080 }, "low")) // => 85
 * ```
 */
export const imageTokens = (rule: ImageRule, size: Pixels | undefined, detail?: string): number => {
  const known = size !== undefined && size.width >= 1 && size.height >= 1
  const pixels = known && Number.isFinite(size.width * size.height) ? size : SCREENSHOT
  switch (rule.rule) {
    case "flat":
      return rule.tokens
    case "claude":
      return claude(rule, pixels)
    case "patches":
      return patches(rule, pixels, detail)
    case "tiles":
      return tiles(rule, pixels, detail)
    case "levels":
      return level(rule.levels, detail, rule.auto) ?? 0
    case "geminiTiles":
      return geminiTiles(rule, pixels, detail)
    case "resize":
      return resize(rule, pixels)
  }
}
