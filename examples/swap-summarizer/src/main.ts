/** One conversation, three summarizers, side by side. No key, no network: `node --conditions=@varve/source src/main.ts`. */
import type { Summarizer } from "@varve/core"
import { conversationSummary, createMemory, hardLimit } from "@varve/core"
import { historyOf } from "./history.ts"
import { summarizers } from "./summarizers.ts"

const width = 44
let prompt = ""

const summaryBy = async (summarizer: Summarizer) => {
  const memory = createMemory({
    pipeline: [conversationSummary({ summarizer, targetTokens: 80 }), hardLimit()],
    budget: { tokens: 4000 }
  })
  const { messages, report } = await memory.prepare(historyOf(30))
  const fold = memory.explain().find(({ kind }) => kind === "fold")
  await memory.close()
  const text = messages
    .map(({ content }) =>
      typeof content === "string"
        ? content
        : content.map((block) => (block.type === "text" ? block.text : "")).join("\n")
    )
    .join("\n")
  const summary = /<summary [^>]*>\n(.*?)\n<\/summary>/s.exec(text)?.[1] ?? ""
  return { summary, reason: fold?.reason ?? "", before: report.before, after: report.after }
}

/** A text as lines of at most `width` characters. */
const wrapped = (text: string): ReadonlyArray<string> =>
  text.split("\n").flatMap((line) => {
    const lines = [""]
    for (const word of line.split(" ")) {
      const longer = `${lines.at(-1)} ${word}`.trimStart()
      if (longer.length > width) lines.push(word)
      else lines[lines.length - 1] = longer
    }
    return lines
  })

const names: Array<string> = []
const columns: Array<ReadonlyArray<string>> = []
for (const [name, summarizer] of Object.entries(summarizers((asked) => (prompt = asked)))) {
  const { after, before, reason, summary } = await summaryBy(summarizer)
  names.push(name)
  columns.push([
    `${before.tokens} > ${after.tokens} tokens`,
    `${before.messages} > ${after.messages} messages`,
    ...wrapped(reason),
    "",
    ...wrapped(summary)
  ])
}

const row = (cells: ReadonlyArray<string>): string =>
  cells
    .map((cell) => cell.padEnd(width))
    .join("  ")
    .trimEnd()
console.log(row(names))
console.log(row(names.map(() => "-".repeat(width))))
for (let i = 0; i < Math.max(...columns.map((column) => column.length)); i++) {
  console.log(row(columns.map((column) => column[i] ?? "")))
}
console.log(`\nThe model was asked once, with ${prompt.length} characters.`)
