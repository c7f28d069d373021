import type { Message } from "@varve/core/Message"
import * as fc from "fast-check"
import { expect, it } from "vitest"
import { growthAsCode, historyAsCode } from "../src/Code.ts"
import { histories } from "../src/Histories.ts"
import { pngBase64 } from "../src/Png.ts"

const image = (data: string) => ({ type: "image" as const, data, mimeType: "image/png" })

it("prints images as calls that make one of the same size, equal ones alike", () => {
  const [a, b] = [pngBase64(1280, 720, 7), pngBase64(16, 16, 9, 4000)]
  const history: ReadonlyArray<Message> = [
    { role: "user", content: [image(a), image(b), image(a)] }
  ]
  expect(historyAsCode(history)).toBe(`[
  {"role":"user","content":[{"type":"image","data":pngBase64(1280, 720, 0),"mimeType":"image/png"},{"type":"image","data":pngBase64(16, 16, 1, ${b.length}),"mimeType":"image/png"},{"type":"image","data":pngBase64(1280, 720, 0),"mimeType":"image/png"}]}
]`)
})

it("prints what says the same, all but the pixels", () => {
  fc.assert(
    fc.property(histories({ images: false }), (history) => {
      expect(JSON.parse(historyAsCode(history))).toEqual(JSON.parse(JSON.stringify(history)))
    })
  )
  expect(historyAsCode([undefined, null, { role: "user", content: 1n }] as never)).toContain(
    "undefined"
  )
})

it("prints a session that only grows as one history with its lengths", () => {
  const history = [{ role: "user", content: "a" } as const, { role: "user", content: "b" } as const]
  const code = growthAsCode({ kind: "plain", requests: [history.slice(0, 1), history] })
  expect(code.split("\n")[0]).toBe("// plain; requests at lengths 1, 2")
  expect(code.match(/"role"/g)).toHaveLength(2)
  const forked = growthAsCode({ kind: "forked", requests: [history, history.slice(1)] })
  expect(forked.match(/"role"/g)).toHaveLength(3)
})
