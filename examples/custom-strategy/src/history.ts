/** What stands for a session: an agent that reads files, writes two of them, and reads one again. */
import type { Message } from "@varve/core"

type Call = readonly [tool: string, path: string, lines?: number]

/** The history of such calls; a read gives a file of so many lines. */
export const historyOf = (calls: ReadonlyArray<Call>): ReadonlyArray<Message> => [
  { role: "user", content: "Let the parser keep comments." },
  ...calls.flatMap(([name, path, lines = 40], n): ReadonlyArray<Message> => {
    const file = `// ${path}\n${"export const part = () => 42\n".repeat(lines)}`
    const text = name === "read" ? file : "done"
    return [
      {
        role: "assistant",
        content: [{ type: "toolCall", id: `call-${n}`, name, arguments: { path } }]
      },
      {
        role: "toolResult",
        toolCallId: `call-${n}`,
        toolName: name,
        content: [{ type: "text", text }],
        isError: false
      }
    ]
  })
]

export const history = historyOf([
  ["read", "src/parse.ts"],
  ["read", "src/print.ts"],
  ["read", "README.md"],
  ["write", "src/parse.ts"],
  ["write", "src/print.ts"],
  ["read", "src/print.ts"],
  ["test", "src"],
  ["read", "src/lex.ts"],
  ["write", "src/lex.ts"]
])
