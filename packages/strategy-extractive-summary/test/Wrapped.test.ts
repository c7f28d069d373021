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

/** `VARVE_CASES` tries more of them, and then doesn't look for the smallest that fails. */
const most = (least: number, share = 1): { numRuns: number; endOnFailure: boolean } => {
  const cases = process.env["VARVE_CASES"]
  const numRuns = cases === undefined ? least : Math.ceil(Number(cases) * share)
  return { numRuns, endOnFailure: cases !== undefined }
}

const NEGATIONS = [
  "not",
  "never",
  "hardly",
  "cannot be said to have",
  "nowhere",
  "nicht",
  "nie"
].concat([
  "weder",
  "nunca",
  "tampoco",
  "nadie",
  "jamais",
  "rien",
  "personne",
  "nenhum",
  "ninguém",
  "niente",
  "nessuno"
])
const plain = fc.constantFrom(
  ..."as, the team, said in on staging for shop, contrary to what I wrote before, (again) e.g. Mr. v2.1 a.m. p.m. U.S. Jan. Sept. Corp. ver. min. approx. 5. VIII. z.B. (really?) shop; I Berlin ...".split(
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

const QUOTES: ReadonlyArray<readonly [string, string]> = [
  ..."“” „“ „” ”” «» »« ‹› ›‹ ‘’ ‚‘ ‚’ 「」 『』 《》 () [] （）"
    .split(" ")
    .map((pair) => [pair[0]!, pair[1]!] as const),
  ...['"', "'", "*", "**", "_", "~~", "`"].map((mark) => [mark, mark] as const),
  ["« ", " »"],
  ["„", '"'],
  ["<del>", "</del>"]
]

/** A claim of several sentences, between quotes or brackets or struck out, of which the last word is that it is not so. */
const quoted = fc
  .tuple(
    fc.constantFrom(...QUOTES),
    fc.array(
      fc.constantFrom(
        "The shop succeeded.",
        "All tests succeeded on Monday!",
        "It's the users' choice that succeeded.",
        "(It succeeded.)",
        "Who says that it succeeded?",
        'Berlin succeeded with 27" screens.',
        "Mr. Smith's mail succeeded at 9 a.m."
      ),
      { minLength: 1, maxLength: 4 }
    ),
    fc.constantFrom("", "Berlin says: ", "Die Behauptung "),
    fc.constantFrom(
      " is not true.",
      " Berlin says is not so.",
      " ist nicht wahr.",
      ", it is not so."
    ),
    fc.array(gap, { minLength: 60, maxLength: 60 })
  )
  .map(([[open, close], claims, start, end, gaps]) =>
    `${start || "The claim "}${open}${claims.join(" ")}${close}${end}`
      .split(/ (?! |»)(?<!« )/)
      .reduce((text, word, i) => text + gaps[i % gaps.length]! + word)
  )

const HEADS: ReadonlyArray<readonly [string, string]> = [
  ["I have not yet", "not"],
  ["These are still open:", "open"],
  ["It is untrue that:", "untrue"],
  ["Todo", "Todo"],
  ["**Remaining:**", "Remaining"],
  ["## Not done", "Not"],
  ["Nichts davon stimmt:", "Nichts"],
  ["Niemand hat", "Niemand"],
  ["Weder das noch das:", "Weder"],
  ["Ningún paso está hecho:", "Ningún"],
  ["Tampoco está hecho", "Tampoco"],
  ["Nadie ha visto que", "Nadie"],
  ["Rien n'est fait :", "Rien"],
  ["Personne n’a fait", "Personne"],
  ["Nenhum destes está feito:", "Nenhum"],
  ["Ninguém fez", "Ninguém"],
  ["Niente di questo è fatto:", "Niente"],
  ["Nessuno di questi:", "Nessuno"],
  ["以下都不对：", "不对"]
]
const item = fc.constantFrom(
  "The shop succeeded",
  "The mail succeeded.",
  "succeeded on staging",
  "It ran. It succeeded.",
  "[x] all tests succeeded, which is what the team of the shop in Berlin had asked for since the summer of last year"
)
const mark = fc.constantFrom("- ", "* ", "1. ", "a) ", "• ", "> ", "  - ")

/** A list with what it is of. */
const listed = fc
  .tuple(
    fc.constantFrom(...HEADS),
    fc.array(fc.tuple(mark, item, fc.constantFrom("", "", "\n")), { minLength: 1, maxLength: 6 }),
    fc.constantFrom("\n", "\n\n"),
    fc.constantFrom("", "We began at noon. ")
  )
  .map(([[head, word], items, space, before]) => ({
    text: `${head.startsWith("#") ? "" : before}${head}${space}${items.map(([m, said, more]) => m + said + more).join("\n")}`,
    word
  }))

describe("a sentence that goes over the ends of lines", { timeout: 600_000 }, () => {
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
      most(1000)
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
      most(500)
    )
  })

  it("is taken with all that it quotes, brackets or strikes out, or not at all", () => {
    fc.assert(
      fc.property(
        fc.constantFrom("user", "assistant"),
        quoted,
        fc.integer({ min: 20, max: 300 }),
        (from, text, target) => {
          const made1 = made(from, `We began at noon. ${text} The rest is fine.`, target)
          for (const line of made1.split("\n"))
            if (line.includes("succeeded") && !line.includes("left out …]"))
              expect(line).toMatch(/not|nicht/)
        }
      ),
      most(500)
    )
  })

  it("is taken with the list that it goes on in, or each item with what it is of, or not at all", () => {
    fc.assert(
      fc.property(
        fc.constantFrom("user", "assistant", "tool bash"),
        listed,
        fc.integer({ min: 20, max: 300 }),
        (from, { text, word }, target) => {
          expectDenied(made(from, text, target), word)
        }
      ),
      most(500)
    )
  })

  it("goes on behind a list", () => {
    fc.assert(
      fc.property(
        fc.constantFrom("user", "assistant", "tool bash"),
        fc.constantFrom("The points", "What we said,", "That"),
        fc.array(item, { minLength: 1, maxLength: 4 }),
        fc.constantFrom("\n", "\n\n"),
        fc.integer({ min: 20, max: 300 }),
        (from, head, items, space, target) => {
          const list = items.map((said) => `- ${said}`).join("\n")
          expectDenied(made(from, `${head}\n${list}${space}are all wrong.`, target), "wrong")
        }
      ),
      most(300)
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
      most(300, 0.1)
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
    ["tool bash", "The migration was not\ncompleted."],
    ["assistant", "The payment was not, as of 9 a.m. Berlin time, completed on all machines."],
    ["tool bash", "The migration has not in the U.S.\nsucceeded on all machines."],
    ["assistant", "It isn't true that the shop,\n\nas of today, is not deployed."]
  ])("%s: %j stays one", (from, text) => {
    const line = made(from, text)
      .split("\n")
      .find((l) => l.includes(text.split(/[\s.]+/).at(-2)!))
    expect(line).toBeDefined()
    expect(`${from}: ${text.replaceAll(/\n+/g, " ")}`.endsWith(line!.slice(from.length + 2))).toBe(
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

  it("takes a longer list in pieces, each with what it is of", () => {
    const list = Array.from(
      { length: 20 },
      (_, i) => `- Part ${i} of the shop is deployed and runs.`
    )
    const text = made("assistant", `I looked. The tests that failed:\n\n${list.join("\n")}`, 300)
    const lines = text.split("\n").filter((line) => line.includes("deployed"))
    expect(lines.length).toBeGreaterThan(2)
    for (const line of lines)
      expect(line).toMatch(/^assistant: The tests that failed:(?: …)? - Part \d+ of the shop is/)
    expect(text).not.toContain("tests that failed:\n")
  })

  it("takes an item with the item that it is under", () => {
    const text = made(
      "assistant",
      "- Not done:\n  - The shop is deployed.\n  - The mail is sent.\n- The log is read by all."
    )
    expect(text).toContain("Not done: - The shop is deployed. - The mail is sent.")
    expect(text).toContain("assistant: The log is read by all.")
  })

  it("takes items alone where what they are of is whole or says nothing", () => {
    for (const head of ["Here is what I found:", "## Summary", "**Changes**", "I looked at it."]) {
      const list = "- The shop is deployed to staging.\n- The mail went to the team."
      const text = made("assistant", `${head}\n\n${list}`)
      expect(text).toContain("assistant: The shop is deployed to staging.")
      expect(text).toContain("assistant: The mail went to the team.")
    }
  })

  it("takes nothing from where a quote is open to where it ends", () => {
    const text = made(
      "assistant",
      'The team met at ten. The claim "All tests pass.\n\nThe shop is deployed." is not true. I asked the team.'
    )
    expect(text).toContain("assistant: The team met at ten.")
    expect(text).toContain("assistant: I asked the team.")
    expect(text).not.toMatch(/pass|deployed/)
  })

  it("takes what follows a bracket, an abbreviation or a sentence that is quoted with it", () => {
    for (const text of [
      "I have not (really?) Deployed the shop.",
      "We have not since Jan. 5 Deployed the shop.",
      "Die Behauptung „Alle Tests sind grün. Der Shop ist auf Staging.“ ist nicht wahr.",
      "The claim ‘All tests pass. The users’ shop is deployed.’ is not true.",
      "Am 5. Oktober wurde der Shop nicht, wie am 3. Mai Berlin sagte, fertig."
    ])
      expect(made("assistant", text)).toContain(`assistant: ${text}`)
  })
})
