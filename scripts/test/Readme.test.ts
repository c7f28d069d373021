import { existsSync, globSync, readFileSync, readdirSync } from "node:fs"
import { stripTypeScriptTypes } from "node:module"
import { dirname, join } from "node:path"
import { describe, expect, it } from "vitest"
import { packages, root } from "../workspace.ts"

const read = (file: string): string => readFileSync(join(root, file), "utf8")

/** Relative links of a Markdown file, outside of its code, without their anchors. */
const linksOf = (text: string): ReadonlyArray<string> =>
  [...text.replaceAll(/^```[\s\S]*?^```/gm, "").matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)].map(
    ([, link = ""]) => link
  )

const documents = [
  "README.md",
  "AGENTS.md",
  ...globSync(["docs/**/*.md", "packages/*/README.md", "examples/*/README.md"], { cwd: root })
]

describe("the documents", () => {
  it.each(documents)("%s: what it links to is there", (file) => {
    const gone = linksOf(read(file)).filter((link) => !existsSync(join(root, dirname(file), link)))
    expect(gone).toEqual([])
  })

  it("the README names every package and every example", () => {
    const links = linksOf(read("README.md"))
    for (const { folder } of packages()) expect(links).toContain(folder)
    const examples = readdirSync(join(root, "examples")).filter(
      (name) => name !== "session-readers" && name !== "gui-agent"
    )
    for (const name of examples) expect(links).toContain(`examples/${name}`)
  })

  it("a pi agent with memory takes fewer than fifteen lines", () => {
    const blocks = [...read("README.md").matchAll(/^```ts\n([\s\S]*?)^```/gm)]
    const [quickStart] = blocks.flatMap(([, code = ""]) => (code.includes("attach(") ? [code] : []))
    const lines = quickStart!.split("\n").filter((line) => line.trim() !== "")
    expect(lines.length).toBeLessThan(15)
  })

  it.each(["adapter-ai-sdk", "adapter-langchain", "adapter-pi"])(
    "%s: the block that needs no key is short, and JavaScript as it is",
    (name) => {
      const [, after = ""] = read(`packages/${name}/README.md`).split("**Without a key.**")
      const code = /^```ts\n([\s\S]*?)^```/m.exec(after)?.[1] ?? ""
      const lines = code.split("\n").filter((line) => line.trim() !== "")
      expect(lines.length).toBeGreaterThan(5)
      expect(lines.length).toBeLessThan(20)
      expect(stripTypeScriptTypes(code)).toBe(code)
    }
  )

  it("the AGENTS.md lists the stages of the gate in their order", () => {
    const stages = [...read("scripts/verify.ts").matchAll(/(?:name: |script\(\s*)"([\w-]+)"/g)].map(
      ([, name]) => name
    )
    const listed = /The stages of the gate: (.*?)\./.exec(read("AGENTS.md"))?.[1]
    expect(listed?.replaceAll("`", "").split(", ")).toEqual(stages)
  })
})
