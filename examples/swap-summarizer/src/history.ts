/** What stands for a long conversation: an agent that goes through a shop's invoices. */
import type { Block, Message } from "@varve/core"

const findings: Readonly<Record<number, string>> = {
  3: "INV-2041 of March is open, 1 280 EUR, due on 14 April.",
  9: "INV-2047 was paid twice, so one payment has to go back.",
  15: "Halden has a new account since May and the old one is closed."
}

const page = (n: number): string =>
  `Page ${n}. ${"Paid in full, nothing is open on this page. ".repeat(12)}`

/** What the agent says before it opens a page. */
const said = (n: number): ReadonlyArray<Block> => {
  const finding = findings[n - 1]
  return finding === undefined ? [] : [{ type: "text", text: `On page ${n - 1}: ${finding}` }]
}

/** The history after so many pages. */
export const historyOf = (pages: number): ReadonlyArray<Message> => [
  { role: "user", content: "Find out which invoices need work, and why." },
  { role: "assistant", content: "I go through the pages one by one." },
  { role: "user", content: "Good. Never pay anything without asking me first." },
  ...Array.from({ length: pages }, (_, n): ReadonlyArray<Message> => [
    {
      role: "assistant",
      content: [
        ...said(n),
        { type: "toolCall", id: `call-${n}`, name: "open_page", arguments: { page: n } }
      ]
    },
    {
      role: "toolResult",
      toolCallId: `call-${n}`,
      toolName: "open_page",
      content: [{ type: "text", text: page(n) + (findings[n] ?? "") }],
      isError: false
    }
  ]).flat()
]
