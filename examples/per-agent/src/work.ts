/** What stands for the agents: each works for some steps, and its history grows as a real one does. */
import { readFileSync } from "node:fs"

const shots = new URL("../../gui-agent/recording/images/", import.meta.url)
const page = "The order was packed on Monday and left the warehouse on Tuesday morning. ".repeat(30)

const results: Readonly<Record<string, (n: number) => ReadonlyArray<object>>> = {
  browser: (n) => [
    {
      type: "image",
      mimeType: "image/png",
      data: readFileSync(new URL(`${String(n + 1).padStart(3, "0")}.png`, shots), "base64")
    }
  ],
  "browser/reader": (n) => [{ type: "text", text: `Page ${n}. ${page}` }],
  coder: (n) => [
    { type: "text", text: `src/part${n}.ts\n${"export const answer = 42\n".repeat(80)}` }
  ]
}

/** The history of an agent after so many steps. */
export const historyOf = (agent: string, steps: number): ReadonlyArray<object> => [
  { role: "user", content: "Find out which orders were sent too late, and why." },
  ...Array.from({ length: steps }, (_, n) => [
    {
      role: "assistant",
      content: [{ type: "toolCall", id: `call-${n}`, name: "look", arguments: { at: n } }]
    },
    {
      role: "toolResult",
      toolCallId: `call-${n}`,
      toolName: "look",
      content: results[agent]!(n),
      isError: false
    }
  ]).flat()
]
