import { describe, expect, it } from "vitest"
import { complaint, installed, readmeExample } from "../readme-example.ts"

const readme = `# x

\`\`\`sh
npm install @varve/x effect
npm install sharp # only for thumbnails
\`\`\`

\`\`\`ts no-run
import { paid } from "needs-a-key"
\`\`\`

\`\`\`ts
import { a, type A } from "@varve/x/A"
import type { B } from "types-only"
import * as Effect from "effect/Effect"
import { join } from "node:path"
const one: A = a(join("b"), Effect)
console.log(one) // => 1
const { two } = await import("lazy")
console.log(
  two
) // => { two:   2 }
\`\`\`

\`\`\`ts
console.log("later") // => later
\`\`\`
`

describe("the example of a README", () => {
  it("is the first that runs, as JavaScript", () => {
    const example = readmeExample("README.md", readme)!
    expect(example.line).toBe(12)
    expect(example.code).toContain('import { a } from "@varve/x/A"')
    expect(example.code).toContain('const one = a(join("b"), Effect)')
    expect(example.code).not.toContain("types-only")
    expect(readmeExample("README.md", "# nothing\n")).toBeUndefined()
  })

  it("names the packages that it imports, and the README those to install", () => {
    expect(readmeExample("README.md", readme)!.packages).toEqual([
      "@varve/x",
      "effect",
      "lazy",
      "types-only"
    ])
    expect(installed(readme)).toEqual(["@varve/x", "effect", "sharp"])
  })

  it("is held to what it says that it prints", () => {
    const example = readmeExample("README.md", readme)!
    expect(complaint(example, "1\n{ two: 2 }\n")).toBeUndefined()
    expect(complaint(example, "1\n{ two: 3 }\n")).toBe(
      "it says   1 { two: 2 }\nbut prints 1 { two: 3 }"
    )
    expect(complaint({ ...example, prints: "" }, "anything")).toBeUndefined()
  })
})
