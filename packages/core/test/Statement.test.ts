import { linesOf, sentencesOf, statementKind } from "@varve/core/Statement"
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

describe("linesOf", { timeout: 60_000 }, () => {
  it.each([
    ["You must not\nrestart it.\nNow go.", ["You must not restart it.", "Now go."]],
    ["Delete the logs,\r\nthe Backups and\nThings.", ["Delete the logs, the Backups and Things."]],
    ["不要删除，\n也不要移动。", ["不要删除，也不要移动。"]],
    ["One\n\ntwo", ["One", "", "two"]],
    ["- One\n  of two\n- three\n1. four\n   is on", ["- One of two", "- three", "1. four is on"]],
    ["# Head\nand text", ["# Head", "and text"]],
    ["| a,\n| b", ["| a,", "| b"]],
    [
      "Run this,\n```\nlet a,\nb\n```\nto see",
      ["Run this,", "```", "let a,", "b", "```", "to see"]
    ],
    ["Look at\n    let a,\n    b", ["Look at", "    let a,", "    b"]],
    ["use tabs\nrun it twice", ["use tabs", "run it twice"]],
    ["Stand alone\nNever push", ["Stand alone", "Never push"]]
  ])("%j", (text, lines) => {
    expect(linesOf(text)).toEqual(lines)
  })

  it("loses and adds no word, and joins in linear time", () => {
    const piece = fc.constantFrom(
      "a",
      "One",
      "the",
      ".",
      ",",
      "\n",
      "\n\n",
      " ",
      "    ",
      "- ",
      "```"
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
        const text = pieces.join("")
        expect(linesOf(text).join("\n").replace(/\s+/g, " ").trim()).toBe(
          text.replace(/\s+/g, " ").trim()
        )
      })
    )
    for (const hard of ["a\n", " ", ". ", ",\n", "#", "(\n"])
      expect(linesOf(hard.repeat(500_000)).length).toBeGreaterThan(0)
  })
})

describe("statementKind", () => {
  it.each([
    ["Don\u2019t touch prod.", "user", "constraint"],
    ["Stay out of deploy/.", "user", "constraint"],
    ["Stop using sudo.", "user", "constraint"],
    ["Leave the v1 routes alone.", "user", "constraint"],
    ["Keep it under 200 lines.", "user", "constraint"],
    ["Delete only files older than 30 days.", "user", "constraint"],
    ["Could you make sure that the tests pass?", "user", "constraint"],
    ["You don't need to ask me, but never push.", "user", "constraint"],
    ["You don't need to ask me first.", "user", undefined],
    ["Should we never delete the old backups?", "user", undefined],
    ["It's always been slow.", "user", undefined],
    ["It never works.", "user", undefined],
    ["I must say this looks great.", "user", undefined],
    ["I have not decided yet which port to use.", "user", undefined],
    ["I haven't decided yet which port to use.", "user", undefined],
    ["I don't know what to use for the cache, what do you think?", "user", undefined],
    ["Should it be renamed instead?", "user", undefined],
    ["I'm not sure, but let's use Redis.", "user", "decision"],
    ["no, not 8443 either", "user", "decision"],
    ["Forget Postgres 16.", "user", "decision"],
    ["Back to npm.", "user", "decision"],
    ["I forget how it is called.", "user", undefined],
    ["We have not decided on it.", "assistant", undefined],
    ["It is not fixed.", "assistant", "error"],
    ["The bug hasn\u2019t been fixed yet.", "assistant", "error"],
    ["还没有完成。", "assistant", "error"],
    ["It was not, as I wrote before, completed.", "assistant", undefined],
    ["All is done, nothing is left.", "assistant", "outcome"],
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
