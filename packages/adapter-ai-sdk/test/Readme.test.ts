import * as ai7 from "ai"
import * as ai6 from "ai-6"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"

const readme = readFileSync(join(import.meta.dirname, "../README.md"), "utf8")

/** What the README's code takes from the SDK, types aside. */
const names = [...readme.matchAll(/import \{([^}]+)\} from "ai"/g)].flatMap(([, list = ""]) =>
  list
    .split(",")
    .map((name) => name.trim())
    .filter((name) => !name.startsWith("type "))
)

describe("the README's code", () => {
  it.each([
    ["6", ai6],
    ["7", ai7]
  ])("takes what version %s of the SDK has", (_, ai) => {
    expect(names).toContain("stepCountIs")
    expect(names.filter((name) => !(name in ai))).toEqual([])
  })
})
