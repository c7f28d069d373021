import type { Message } from "@varve/core/Message"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { materialOf, withoutBase64 } from "../src/internal/material.ts"

const RUN = /[A-Za-z0-9+/_-]{256}/

describe("material", { timeout: 60_000 }, () => {
  it("has no base64, and leaves every other text as it is", () => {
    const part = fc.oneof(
      fc.string({ unit: "grapheme", maxLength: 40 }),
      fc.base64String({ maxLength: 600 }),
      fc.constantFrom("data:image/png;base64,", " ", "==", "\n")
    )
    fc.assert(
      fc.property(fc.array(part, { maxLength: 12 }), (parts) => {
        const text = parts.join("")
        const clean = withoutBase64(text)
        expect(RUN.test(clean)).toBe(false)
        if (!RUN.test(text)) expect(clean).toBe(text)
        else expect(clean).toMatch(/\[\d+ characters of data\]/)
      }),
      { numRuns: 500 }
    )
  })

  it("says where data was and how much", () => {
    const text = `<img src="data:image/png;base64,${"A".repeat(300)}=="> and ${"f".repeat(255)}`
    expect(withoutBase64(text)).toBe(
      `<img src="data:image/png;base64,[300 characters of data]=="> and ${"f".repeat(255)}`
    )
  })

  it("takes ten megabytes of one run", () => {
    for (const unit of ["a/b-c", "data:", "\n", "A"]) {
      expect(withoutBase64(unit.repeat(1e7 / unit.length)).length).toBeGreaterThan(0)
    }
  })

  it("never throws on odd messages", () => {
    const odd = [
      { role: "user" },
      { role: "user", content: null },
      { role: "user", content: [null, 1, "x", {}, { type: "text" }, { type: "text", text: 5 }] },
      { role: "assistant", content: [{ type: "toolCall", id: 1 }, { type: "thinking" }] },
      { role: "toolResult", content: [{ type: "image", data: "%%%", mimeType: "image/png" }] },
      { role: "assistant", content: [{ type: "toolCall", name: "f", arguments: { n: 1n } }] },
      { role: "custom", content: [{ type: "blob", bytes: "A".repeat(1000) }] }
    ] as unknown as ReadonlyArray<Message>
    const material = materialOf(odd)
    expect(material.every((m) => typeof m.from === "string" && typeof m.text === "string")).toBe(
      true
    )
    expect(RUN.test(JSON.stringify(material))).toBe(false)
  })
})
