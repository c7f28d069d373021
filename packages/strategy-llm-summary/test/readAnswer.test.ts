import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { readAnswer } from "../src/internal/readAnswer.ts"

const text = (raw: string) => readAnswer(raw)?.text

/** What comes back, and what is read from it; `undefined` is refused. */
const table: ReadonlyArray<readonly [string, string, string | undefined]> = [
  ["plain text", "The form is filled in.", "The form is filled in."],
  ["plain text of several lines", "a\n\n- b\n", "a\n\n- b"],
  ["JSON", '{"summary":"done"}', "done"],
  ["JSON in a fence", '```json\n{"summary": "done"}\n```', "done"],
  ["JSON in a fence without a name", '```\n{"summary": "done"}\n```', "done"],
  ["JSON in a fence that isn't closed", '```json\n{"summary": "done"}', "done"],
  [
    "JSON in a fence amid prose",
    'Here:\n```json\n{"summary": "the form is done"}\n```',
    "the form is done"
  ],
  ["JSON behind prose", 'Sure! {"summary": "the form is done"}', "the form is done"],
  ["JSON before prose", '{"summary": "the form is done"}\nHope it helps', "the form is done"],
  ["a byte-order mark", '\uFEFF{"summary":"done"}', "done"],
  ["a byte-order mark in a fence", '```json\n\uFEFF{"summary":"done"}\n```', "done"],
  ["a byte-order mark before text", "\uFEFFdone", "done"],
  ["trailing commas", '{"facts": ["a", "b",], "summary": "done" , }', "done"],
  ["a comma inside a text", '{"summary": "a, }, b"}', "a, }, b"],
  ["raw line breaks in a text", '{"summary": "a\nb\tc"}', "a\nb\tc"],
  ["escapes that JSON has not", '{"summary": "it\\\'s \\$5"}', "it's $5"],
  ["a broken unicode escape", '{"summary": "\\u12, x",}', "u12, x"],
  ["escaped quotes", '{"summary": "he said \\"go\\""}', 'he said "go"'],
  ["quotes that aren't escaped", '{"summary": "he said "go" and left"}', 'he said "go" and left'],
  ["other keys first", '{"title": "x", "Summary": "done"}', "done"],
  ["another name for the text", '{"text": "done"}', "done"],
  ["JSON in a JSON string", '"{\\"summary\\": \\"done\\"}"', "done"],
  ["a JSON string", '"done"', "done"],
  ["a text that begins with a quote", '"Save" was clicked.', '"Save" was clicked.'],
  ["a text in a fence", "```markdown\n- done\n```", "- done"],
  ["text with a fence in it", "Ran:\n```sh\nls\n```\nand left.", "Ran:\n```sh\nls\n```\nand left."],
  ["text that begins with a fence", "```sh\nls\n```\nwas run.", "```sh\nls\n```\nwas run."],
  ["text that begins with a bracket", "[1] opened the page", "[1] opened the page"],
  ["text that begins with a brace", "{name} was set", "{name} was set"],
  [
    "text that quotes a little JSON",
    'The API at /greet answered {"summary": "hi"}, which is what the user wanted; nothing else is open.',
    'The API at /greet answered {"summary": "hi"}, which is what the user wanted; nothing else is open.'
  ],
  ["thinking in tags", "<think>hm, {}</think>\nThe form is done.", "The form is done."],
  ["thinking without an end", "<think>hm, the form", ""],
  ["nothing", "", ""],
  ["an empty summary", '{"summary": ""}', ""],
  ["a number as summary", '{"summary": 5}', undefined],
  ["an object as summary", '{"summary": {"a": 1}}', undefined],
  ["a list as summary", '{"summary": ["a", "b"]}', undefined],
  ["null as summary", '{"summary": null}', undefined],
  ["an object as summary amid prose", 'Here: {"summary": {"text": "a"}}', undefined],
  ["JSON without a summary", '{"steps": ["a"]}', undefined],
  ["a list", '["a", "b"]', undefined],
  ["null", "null", undefined],
  ["true", "true", undefined],
  ["a number", "42", undefined],
  ["JSON that was cut", '{"summary": "the form is', undefined],
  ["a list that was cut", '["a", "b', undefined],
  ["unescaped quotes amid other keys", '{"summary": "a "b" c", "x": "d"}', undefined],
  ["a Python dictionary", "{'summary': 'done'}", undefined]
]

describe("readAnswer", () => {
  it.each(table)("reads %s", (_, raw, wanted) => {
    expect(text(raw)).toBe(wanted)
  })

  it("keeps the whole of what was JSON", () => {
    expect(readAnswer('{"summary":"done","open":["x"],}')?.structure).toEqual({
      summary: "done",
      open: ["x"]
    })
    expect(readAnswer("done")).toEqual({ text: "done" })
  })

  it("reads any summary out of any wrapping", () => {
    const wrap = fc.constantFrom<(json: string) => string>(
      (json) => json,
      (json) => "```json\n" + json + "\n```",
      (json) => "\uFEFF" + json,
      (json) => json.slice(0, -1) + ",}",
      (json) => `\n\n${json}\n`
    )
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.jsonValue(), wrap, (summary, other, wrap) => {
        fc.pre(!summary.includes("```"))
        expect(text(wrap(JSON.stringify({ other: { in: other }, summary })))).toBe(summary)
      }),
      { numRuns: 1000 }
    )
  })

  it("never throws and never makes a text of what is none", () => {
    const piece = fc.constantFrom(
      "{",
      "}",
      "[",
      "]",
      '"',
      ",",
      ":",
      "\\",
      "\\u",
      "```",
      "```json\n",
      "summary",
      '{"summary":',
      "\uFEFF",
      "<think>",
      "</think>",
      "\n",
      " ",
      "null",
      "1",
      "\ud800",
      "x"
    )
    const raw = fc.oneof(
      fc.array(piece, { maxLength: 40 }).map((parts) => parts.join("")),
      fc.string({ unit: "binary" }),
      fc.json()
    )
    fc.assert(
      fc.property(raw, (raw) => {
        const read = readAnswer(raw)
        expect(read === undefined || typeof read.text === "string").toBe(true)
        expect(read?.text ?? "").not.toMatch(/\[object |^undefined$/)
      }),
      { numRuns: 3000 }
    )
  })

  it("takes long and deep answers", () => {
    const deep = "[".repeat(200_000)
    expect(text(deep)).toBe(undefined)
    expect(text('{"a":'.repeat(100_000))).toBe(undefined)
    expect(text(`{"summary": "${"a".repeat(1_000_000)}",}`)?.length).toBe(1_000_000)
    expect(text(`{"summary": "${'" '.repeat(200_000)}"}`)?.length).toBe(400_000)
    expect(text("{ ".repeat(200_000))?.length).toBe(399_999)
  })
})
