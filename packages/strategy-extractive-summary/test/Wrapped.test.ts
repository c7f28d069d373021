import { estimateCounter } from "@varve/core/Counter"
import { extractiveSummary } from "@varve/strategy-extractive-summary"
import { deepFreeze } from "@varve/testkit/Freeze"
import fc from "fast-check"
import { describe, expect, it } from "vitest"

const count = estimateCounter().text

const made = (from: string, text: string, targetTokens = 200, previous?: string): string =>
  extractiveSummary(
    deepFreeze({
      previous,
      // Something else that stays: else what is left is clipped, with a mark where it was.
      material: [
        { from: "user", text: "Tell me how the work on the shop goes." },
        { from, text },
        { from: "assistant", text: "I read the report of the night. It has ten pages in all." },
        { from: "tool list", text: "The row of the list is long. ".repeat(20) }
      ],
      keep: [],
      targetTokens,
      count
    })
  )

const NEGATIONS = ["not", "never", "hardly", "cannot be said to have", "nowhere"]
const plain = fc.constantFrom(
  ..."as, the team, said in on staging for shop, contrary to what I wrote before, (again) e.g. Mr. v2.1".split(
    " "
  )
)
const person = fc.oneof(plain, fc.constantFrom("Berlin", "Monday", "Smith", "I", "(The", "12"))
const gap = fc.constantFrom(" ", " ", "\n", "\n  ", " \r\n", "\u2028")

/** A sentence that says that something is not so, wrapped anywhere. */
const denied = (word: fc.Arbitrary<string>) =>
  fc
    .tuple(
      fc.constantFrom("The migration has", "I must report that it has", "It was"),
      fc.constantFrom(...NEGATIONS),
      fc.array(word, { maxLength: 12 }),
      fc.array(gap, { minLength: 60, maxLength: 60 })
    )
    .map(([start, negation, between, gaps]) => {
      const words = `${start} ${negation} ${between.join(" ")} succeeded on all machines`.split(
        / +/
      )
      const text = words.map((w, i) => (i === 0 ? w : gaps[i]! + w)).join("") + "."
      return { text, negation: negation.split(" ")[0]! }
    })

const expectDenied = (text: string, negation: string): void => {
  for (const line of text.split("\n"))
    if (line.includes("succeeded") && !line.includes("left out …]"))
      expect(line).toContain(negation)
}

describe("a sentence that goes over the ends of lines", () => {
  it("is taken with its negation or not at all, wherever people wrap it", () => {
    fc.assert(
      fc.property(
        fc.constantFrom("user", "assistant"),
        denied(person),
        fc.integer({ min: 20, max: 300 }),
        fc.boolean(),
        (from, { text, negation }, target, earlier) => {
          const whole = made(from, `We began at noon. ${text} The rest is fine.`, target)
          expectDenied(whole, negation)
          if (earlier) expectDenied(made("user", "Go on with the rest.", target, whole), negation)
        }
      ),
      { numRuns: 1000 }
    )
  })

  it("is taken with its negation or not at all in the output of a tool", () => {
    fc.assert(
      fc.property(
        denied(plain),
        fc.integer({ min: 20, max: 300 }),
        ({ text, negation }, target) => {
          expectDenied(
            made("tool bash", `Begun at noon.\n${text}\nThe rest is fine.`, target),
            negation
          )
        }
      ),
      { numRuns: 500 }
    )
  })

  it("is left out where the end of what is read goes through it", () => {
    fc.assert(
      fc.property(
        fc.constantFrom("user", "assistant", "tool bash"),
        denied(plain),
        fc.integer({ min: 3800, max: 4100 }),
        (from, { text, negation }, before) => {
          const row = "The row of the list is long and says little. "
          const filler = row.repeat(200)
          const units = from === "tool bash" ? before - 3000 : before
          const head = filler.slice(0, units - (units % row.length))
          expectDenied(made(from, head + text + " " + filler, 600), negation)
          expectDenied(made(from, filler + text + " " + head, 600), negation)
        }
      ),
      { numRuns: 300 }
    )
  })

  it.each([
    ["assistant", "I must report that it has not\nsucceeded on staging."],
    [
      "assistant",
      "The migration was not, contrary to what I wrote before,\ncompleted successfully."
    ],
    ["user", "It is fine to restart web. You must not\nrestart the payment worker."],
    [
      "user",
      "Do not delete the database backups,\nthe audit logs or anything under\n/srv/customers, and never restart\nthe payment worker before 18:00."
    ],
    ["assistant", 'The claim "The migration completed. All tests\nPass." is not true.'],
    ["assistant", "The deploy did not, said Mr. Smith,\nSucceed."],
    ["tool bash", "The migration was not\ncompleted."]
  ])("%s: %j stays one", (from, text) => {
    const line = made(from, text)
      .split("\n")
      .find((l) => l.includes(text.split(/[\s.]+/).at(-2)!))
    expect(line).toBeDefined()
    expect(`${from}: ${text.replaceAll("\n", " ")}`.endsWith(line!.slice(from.length + 2))).toBe(
      true
    )
    expect(line).toMatch(/not|never/)
  })

  it("that looks like code in the middle is not taken from there on", () => {
    const torn = "The migration has not, so the team,\nfor (again)\n(again)\nMr. Smith succeeded."
    expectDenied(made("tool bash", `Begun at noon.\n${torn}\nThe rest is fine.`), "not")
  })

  it("ends at items of lists, at code, at tables and at blank lines", () => {
    const text = made(
      "user",
      "Build these two parts\n- the header of the page\n- the footer of\n  the page\n```\nconst a = 1\n```\nThen show them to the board\n\nIt meets at ten on Monday"
    )
    expect(text.split("\n")).toEqual(
      expect.arrayContaining([
        "user: Build these two parts",
        "user: the header of the page",
        "user: the footer of the page",
        "user: Then show them to the board",
        "user: It meets at ten on Monday"
      ])
    )
  })

  it("takes a list with what denies it", () => {
    const text = made(
      "assistant",
      "I have not done these:\n\n- deployed to staging\n- Sent the mail."
    )
    expect(text).toContain("I have not done these: - deployed to staging - Sent the mail.")
    expect(text).not.toContain("\nassistant: deployed to staging")
  })
})
