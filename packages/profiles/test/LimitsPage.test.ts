import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { parts } from "./limitsTables.ts"

const file = join(import.meta.dirname, "../../../docs/limits-by-provider.md")

const between = (page: string, name: string): readonly [number, number] => {
  const begin = `<!-- ${name} -->\n\n`
  const from = page.indexOf(begin)
  const to = page.indexOf(`\n\n<!-- /${name} -->`)
  if (from < 0 || to < from) throw new Error(`${file} has no part "${name}"`)
  return [from + begin.length, to]
}

// `VARVE_WRITE=1` writes the page anew: `VARVE_WRITE=1 npm test -- packages/profiles/test/LimitsPage.test.ts`.
describe.each(Object.entries(parts))("docs/limits-by-provider.md", (name, make) => {
  it(`says of ${name} what the data says`, () => {
    const page = readFileSync(file, "utf8")
    const [from, to] = between(page, name)
    const now = make()
    if (process.env["VARVE_WRITE"] !== undefined) {
      writeFileSync(file, page.slice(0, from) + now + page.slice(to))
      return
    }
    expect(page.slice(from, to)).toBe(now)
  })
})
