import { describe, expect, it } from "vitest"
import { blocksOf } from "../doc-blocks.ts"

const read = (file: string, text: string) => {
  const problems: Array<string> = []
  return { blocks: blocksOf(file, text, problems), problems }
}

describe("the code blocks of documents", () => {
  it("reads the TypeScript blocks of Markdown with their marks and what they print", () => {
    const { blocks, problems } = read(
      "README.md",
      "```ts\nlog(1) // => 1\n```\n\n```sh\nls\n```\n\n```ts no-run\nx\n```\n```ts fragment\ny\n```\n"
    )
    expect(problems).toEqual([])
    expect(blocks.map(({ line, mode, code, prints }) => ({ line, mode, code, prints }))).toEqual([
      { line: 1, mode: "run", code: "log(1) // => 1", prints: ["1"] },
      { line: 9, mode: "no-run", code: "x", prints: [] },
      { line: 12, mode: "fragment", code: "y", prints: [] }
    ])
  })

  it("reads the examples of JSDoc, whose code may have decorators", () => {
    const { blocks } = read(
      "A.ts",
      "/**\n * A.\n *\n * @example\n * ```ts\n * @dec\n * a()\n * ```\n * @since 1\n */\nexport const a = 1\n"
    )
    expect(blocks.map(({ line, code }) => ({ line, code }))).toEqual([
      { line: 5, code: "@dec\na()" }
    ])
  })

  it("reports an unknown mark, an open block and an example without a block", () => {
    expect(read("README.md", "```ts nope\n```\n").problems).toHaveLength(1)
    expect(read("README.md", "```ts\nx\n").problems).toHaveLength(1)
    expect(read("A.ts", "/**\n * @example a()\n */\n").problems).toHaveLength(1)
  })
})
