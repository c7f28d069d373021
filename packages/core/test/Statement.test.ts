import { sentencesOf, statementKind } from "@varve/core/Statement"
import fc from "fast-check"
import { describe, expect, it } from "vitest"

describe("sentencesOf", { timeout: 60_000 }, () => {
  it.each([
    [
      "Open v1.2, e.g. the beta. Then save it!  Done?",
      ["Open v1.2, e.g. the beta.", "Then save it!", "Done?"]
    ],
    ["- one\n  2) two\n> three\r\n\r\n* four", ["one", "two", "three", "four"]],
    ["今日は晴れです。散歩しましょう！はい。", ["今日は晴れです。", "散歩しましょう！", "はい。"]],
    ["Привет. Как дела?", ["Привет.", "Как дела?"]],
    [" \n\t\n", []]
  ])("splits %j", (text, sentences) => {
    expect([...sentencesOf(text)]).toEqual(sentences)
  })

  it("gives well-formed pieces of the text, none longer than 400 units", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 2000 }), (text) => {
        for (const sentence of sentencesOf(text)) {
          expect(sentence.length).toBeLessThanOrEqual(400)
          expect(sentence.trim()).toBe(sentence)
          expect(text).toContain(sentence.replace(/…$/, ""))
          expect(sentence.isWellFormed() || !text.isWellFormed()).toBe(true)
        }
      })
    )
  })

  it("reads the ends of a text of megabytes", () => {
    const text = "First one. " + "And on ".repeat(2_000_000) + "\nLast one."
    const sentences = [...sentencesOf(text)]
    expect(sentences[0]).toBe("First one.")
    expect(sentences.at(-1)).toBe("Last one.")
    expect(sentences.join("").length).toBeLessThan(70_000)
    expect([...sentencesOf("😀".repeat(100_000))].every((s) => s.isWellFormed())).toBe(true)
  })
})

describe("statementKind", () => {
  it.each([
    ["Never click Delete.", "user", "constraint"],
    ["Let's use Redis for the queue.", "user", "decision"],
    ["Look at the page.", "user", undefined],
    ["I decided to use Redis.", "assistant", "decision"],
    ["All tests pass now.", "assistant", "outcome"],
    ["It failed again.", "assistant", "error"],
    ["I look at the page.", "assistant", undefined],
    ["TypeError: x is undefined", "tool bash", "error"],
    ["no such file", "tool bash (error)", "error"],
    ["no such file", "tool bash", undefined],
    ["Never click Delete. We decided.", "tool browser", undefined]
  ])("%j by %s: %s", (sentence, from, kind) => {
    expect(statementKind(sentence, from)).toBe(kind)
  })
})
