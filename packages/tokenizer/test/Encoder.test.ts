import * as fc from "fast-check"
import { afterAll, describe, expect, it } from "vitest"
import { encodingNames } from "../src/Encoding.ts"
import { type EncoderRef, holdEncoder } from "../src/internal/Encoder.ts"
import { strings } from "./strings.ts"
import { tiktoken } from "./tiktoken.ts"

const open = async (name: (typeof encodingNames)[number] = "o200k_base") => {
  const ref = holdEncoder(name)
  await ref.load()
  return { ref, count: ref.encoder()!.count }
}
const held: Array<EncoderRef> = []
afterAll(() => held.forEach((ref) => ref.release()))

describe.each(encodingNames)("%s", (name) => {
  it("counts 10 000 random and adversarial strings as tiktoken does", async () => {
    const { count, ref } = await open(name)
    const real = tiktoken(name)
    fc.assert(
      fc.property(strings, (text) => count(text) === real.count(text)),
      { numRuns: 10_000, seed: 20_261_129 }
    )
    real.free()
    ref.release()
  })
})

describe("counting", async () => {
  const { count, ref } = await open()
  const real = tiktoken("o200k_base")
  held.push(ref)
  afterAll(() => real.free())

  it("special tokens are text", () => {
    expect(count("<|endoftext|>")).toBe(real.count("<|endoftext|>"))
    expect(count("<|endoftext|>")).toBe(7)
  })
  it("an empty text has none", () => expect(count("")).toBe(0))
  it("a run that is short enough is counted whole", () => {
    const text = "so " + "a".repeat(3000) + " what"
    expect(count(text)).toBe(real.count(text))
  })
  it("a text of many windows is cut where its count stays the same", () => {
    const text = 'One two, three. 人工智能。{"key": [1, 2]}\n'.repeat(9000)
    expect(text.length).toBeGreaterThan(300_000)
    expect(count(text)).toBe(real.count(text))
  })
  it("texts of many windows are counted as tiktoken does, wherever they are cut", () => {
    const long = fc
      .array(strings, { minLength: 30, maxLength: 60 })
      .map((all) => all.join(" ").repeat(60).slice(0, 250_000))
    fc.assert(
      fc.property(long, (text) => {
        const counted = count(text)
        return counted < 0 || counted === real.count(text)
      }),
      { numRuns: 10, seed: 7 }
    )
  })
  it.each([
    ["one letter", "a".repeat(100_000), 12_500],
    ["spaces", " ".repeat(100_000), 782],
    ["a line", "=".repeat(100_000), 1563],
    ["line breaks", "\n".repeat(100_000), 6250],
    ["lone surrogates", "\ud800".repeat(100_000), 100_000 / 8]
  ])("100 000 of %s: cut, said to be an estimate, and near", (_, text, near) => {
    const counted = count(text)
    expect(counted).toBeLessThan(0)
    expect(Math.abs(-1 - counted - near)).toBeLessThan(0.01 * near)
  })
  it("unbroken Chinese is near where it is cut", () => {
    const text = "人工智能是计算机科学的一个分支它企图了解智能的实质".repeat(160)
    expect(Math.abs(-1 - count(text) - real.count(text))).toBeLessThan(0.01 * real.count(text))
  })
  it("Chinese with punctuation is exact at any length", () => {
    const text = "人工智能是计算机科学的一个分支，它企图了解智能的实质。".repeat(4000)
    expect(count(text)).toBe(real.count(text))
  })
  it("megabytes of one character come back", () => {
    expect(count("a".repeat(5_000_000))).toBeLessThan(-600_000)
  })
  it("a text is cut alike each time, whatever came before", () => {
    fc.assert(
      fc.property(fc.constantFrom("a", " ", "字", "😀", "\u0301"), fc.nat(20_000), (unit, n) => {
        const text = unit.repeat(n)
        const again = [...text].join("")
        return count(text) === count(again)
      }),
      { numRuns: 50 }
    )
  })
})

describe("holding", () => {
  it("is loaded once for all, and freed with the last", async () => {
    const a = await open("r50k_base")
    const b = await open("r50k_base")
    expect(a.ref.encoder()).toBe(b.ref.encoder())
    a.ref.release()
    a.ref.release()
    expect(a.ref.encoder()).toBeUndefined()
    expect(b.ref.encoder()!.count("still here")).toBe(2)
    b.ref.release()
    expect(b.ref.encoder()).toBeUndefined()
    const c = await open("r50k_base")
    expect(c.count("and again")).toBe(2)
    c.ref.release()
  })
  it("released while it loads, it is not kept", async () => {
    const ref = holdEncoder("p50k_edit")
    const loading = ref.load()
    ref.release()
    await loading
    expect(ref.encoder()).toBeUndefined()
    const again = await open("p50k_edit")
    expect(again.count("here")).toBe(1)
    again.ref.release()
  })
  it("two loads at once are one", async () => {
    const ref = holdEncoder("gpt2")
    await Promise.all([ref.load(), ref.load()])
    expect(ref.encoder()).toBeDefined()
    ref.release()
  })
})
