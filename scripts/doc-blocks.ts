// Finds the TypeScript blocks of a Markdown or a TypeScript file.

export interface Block {
  readonly file: string
  /** The line of the opening fence, from 1. */
  readonly line: number
  readonly code: string
  readonly mode: "run" | "no-run" | "fragment"
  /** What the block's `console.log`s print by its own `// =>` comments, in order. */
  readonly prints: ReadonlyArray<string>
}

const fence = /^(\s*)(`{3,})\s*([^`]*)$/

const printsOf = (code: ReadonlyArray<string>): ReadonlyArray<string> =>
  code.flatMap((line) => {
    const match = /\/\/ => ?(.*)$/.exec(line)
    return match ? [(match[1] ?? "").trim()] : []
  })

interface Line {
  readonly text: string
  readonly at: number
}

const blocksIn = (file: string, lines: ReadonlyArray<Line>, problems: Array<string>) => {
  const blocks: Array<Block> = []
  for (let i = 0; i < lines.length; i++) {
    const open = fence.exec(lines[i]?.text ?? "")
    if (!open) continue
    const indent = open[1] ?? ""
    const ticks = open[2] ?? "```"
    const [language, mark, ...rest] = (open[3] ?? "").trim().split(/\s+/)
    const line = lines[i]?.at ?? 0
    const code: Array<string> = []
    for (i++; i < lines.length && lines[i]?.text.trim() !== ticks; i++) {
      const text = lines[i]?.text ?? ""
      code.push(text.startsWith(indent) ? text.slice(indent.length) : text.trimStart())
    }
    if (i >= lines.length) problems.push(`${file}:${line}: the code block is never closed`)
    if (language !== "ts" && language !== "typescript") continue
    if ((mark !== undefined && mark !== "fragment" && mark !== "no-run") || rest.length > 0) {
      problems.push(
        `${file}:${line}: the mark after \`ts\` is "${[mark, ...rest].join(" ")}"; ` +
          `it may be "fragment", "no-run" or nothing`
      )
      continue
    }
    blocks.push({ file, line, code: code.join("\n"), mode: mark ?? "run", prints: printsOf(code) })
  }
  return blocks
}

/** The lines of every JSDoc `@example` of a source file, without the leading stars. */
const exampleLines = (file: string, text: string, problems: Array<string>) => {
  const examples: Array<Array<Line>> = []
  let current: Array<Line> | undefined
  let inDoc = false
  for (const [index, raw] of text.split("\n").entries()) {
    if (/^\s*\/\*\*/.test(raw)) inDoc = true
    if (!inDoc) continue
    const line = raw.replace(/^\s*\/?\*+ ?/, "").replace(/\s*\*\/\s*$/, "")
    if (/^@example\b/.test(line)) examples.push((current = []))
    else if (/^@\w/.test(line) && !insideFence(current)) current = undefined
    current?.push({ text: line.replace(/^@example\b.*$/, ""), at: index + 1 })
    if (raw.includes("*/")) {
      inDoc = false
      current = undefined
    }
  }
  for (const lines of examples) {
    if (!lines.some(({ text: line }) => fence.test(line))) {
      problems.push(`${file}:${lines[0]?.at}: an @example has its code in a \`\`\`ts block`)
    }
  }
  return examples
}

const insideFence = (lines: ReadonlyArray<Line> | undefined): boolean =>
  (lines ?? []).filter(({ text }) => fence.test(text)).length % 2 === 1

export const blocksOf = (
  file: string,
  text: string,
  problems: Array<string>
): ReadonlyArray<Block> =>
  file.endsWith(".md")
    ? blocksIn(
        file,
        text.split("\n").map((line, index) => ({ text: line, at: index + 1 })),
        problems
      )
    : exampleLines(file, text, problems).flatMap((lines) => blocksIn(file, lines, problems))
