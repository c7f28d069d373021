import { describe, expect, it } from "vitest"
import type { Footprint } from "../size-table.ts"
import { staleRows, withTable } from "../size-table.ts"

const core: Footprint = {
  name: "@varve/core",
  packages: 2,
  own: 1_400_000,
  effect: 55_900_000,
  total: 57_300_000
}
const small: Footprint = { ...core, name: "@varve/preset-gui", packages: 5, own: 17_000 }

const page = (inside: string): string =>
  `# Varve\n\n<!-- sizes: written by \`npm run release:dry -- --write\` -->${inside}<!-- /sizes -->\n\n## More\n`

describe("the table of sizes in the README", () => {
  it("is written between its lines, and the rest stays", () => {
    const written = withTable(page("\n\nwhat was there\n\n"), [core, small])
    expect(written).toContain(
      "| `@varve/core`       | 2        | 1.4 MB  | 1.4 MB         | 57.3 MB |"
    )
    expect(written).toContain("| `@varve/preset-gui` | 5        | 0.02 MB |")
    expect(written).not.toContain("what was there")
    expect(written.startsWith("# Varve\n\n<!-- sizes")).toBe(true)
    expect(written.endsWith("<!-- /sizes -->\n\n## More\n")).toBe(true)
    expect(withTable(written, [core, small])).toBe(written)
    expect(() => withTable("# Varve\n", [core])).toThrow("README.md has no lines")
  })

  it("holds where sizes are near", () => {
    const readme = withTable(page(""), [core, small])
    expect(staleRows(readme, [core, small])).toEqual([])
    expect(staleRows(readme, [{ ...core, own: 1_500_000 }])).toEqual([])
  })

  it("names the rows that hold no longer, or were never there", () => {
    const readme = withTable(page(""), [core])
    expect(staleRows(readme, [{ ...core, packages: 3 }])).toEqual(["`@varve/core`"])
    expect(staleRows(readme, [{ ...core, own: 3_000_000 }])).toEqual(["`@varve/core`"])
    expect(staleRows(readme, [{ ...core, total: 90_000_000 }])).toEqual(["`@varve/core`"])
    expect(staleRows(readme, [core, small])).toEqual(["`@varve/preset-gui`"])
    expect(staleRows("# Varve\n", [core])).toEqual(["`@varve/core`"])
  })
})
