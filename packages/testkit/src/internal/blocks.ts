import * as fc from "fast-check"
import type { Block } from "@varve/core/Message"
import { pngBase64 } from "../Png.ts"

const words =
  "the page shows a table of orders and one button that saves what was typed into field 42".split(
    " "
  )

/** What breaks naive code: joined emoji, half pairs, zero width, delimiters, patterns, control characters. */
const odd = [
  "👩‍👩‍👧‍👦",
  "🏳️‍🌈",
  "e\u0301",
  "\ud83d",
  "\udc00",
  "\u200b",
  "</result>",
  "$&",
  "```",
  "\\n",
  "\u0000",
  "[Recent steps]\n",
  "<|endoftext|>"
]
const cjk = "画面には注文の表があり保存ボタンが一つある确认订单状态화면에주문목록".split("")
const lines = [
  '{"id":42,"name":"Widget","tags":["a","b"],"price":19.99}\n',
  '<button id="save" class="btn primary">Save</button>\n',
  "const total = items.reduce((sum, item) => sum + item.price, 0)\n",
  "7f3a9c0e 41d2b6ff 00e1c3aa 9b7d5e21\n"
]

const joined = (units: ReadonlyArray<string>, between: string, most: number) =>
  fc
    .array(fc.constantFrom(...units), { minLength: 1, maxLength: most, size: "max" })
    .map((parts) => parts.join(between))

/** Texts of many kinds, never blank; the long ones have up to `most` characters. */
export const texts = (most: number): fc.Arbitrary<string> =>
  fc
    .oneof(
      { weight: 6, arbitrary: joined(words, " ", 24) },
      { weight: 4, arbitrary: fc.constantFrom("go on", "ok", "next", "done") },
      { weight: 2, arbitrary: joined(cjk, "", 40) },
      { weight: 2, arbitrary: joined([...odd, ...words], "", 12) },
      { weight: 2, arbitrary: joined(lines, "", 12) },
      { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 30 }) },
      {
        weight: 2,
        arbitrary: fc
          .tuple(fc.constantFrom(...words, ...lines, "word ", "画", "😀"), fc.nat(most))
          .map(([unit, length]) => unit.repeat(Math.ceil(length / unit.length)).slice(0, length))
      }
    )
    .map((s) => (s.trim() === "" ? "x" + s : s))

const sizes = [
  [1280, 720],
  [640, 480],
  [320, 240],
  [1920, 1080],
  [2400, 1350],
  [800, 2500],
  [16, 16]
] as const

/** Images of usual and unusual sizes; few enough seeds that equal ones come up, some padded. */
export const images: fc.Arbitrary<Block> = fc
  .tuple(fc.constantFrom(...sizes), fc.nat(40), fc.constantFrom(0, 0, 0, 0, 0, 0, 4_000, 20_000))
  .map(([[width, height], seed, bytes]) => ({
    type: "image",
    data: pngBase64(width, height, seed, bytes),
    mimeType: "image/png"
  }))
