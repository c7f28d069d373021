import type { Message } from "@varve/core/Message"

/** What the user settled in several goes; what holds now is in the last of them. */
export interface Topic {
  readonly name: string
  /** What was said, with the turn that it was said in, oldest first. */
  readonly said: ReadonlyArray<readonly [turn: number, text: string, value: string]>
}

export const topics: ReadonlyArray<Topic> = [
  {
    name: "port",
    said: [
      [6, "Use port 8080 for the proxy.", "8080"],
      [31, "no, use port 8443", "8443"],
      [74, "no, not 8443 either. ops gave us 9443, final.", "9443"]
    ]
  },
  {
    name: "database",
    said: [
      [9, "Let's go with Postgres 16.", "Postgres 16"],
      [48, "Forget Postgres 16, ops only supports 15. Go back to 15.", "Forget Postgres 16"]
    ]
  },
  {
    name: "package manager",
    said: [
      [12, "Install with npm.", "npm"],
      [57, "No wait, yarn.", "yarn"]
    ]
  },
  {
    name: "name",
    said: [
      [15, "Call the service gate.", "gate"],
      [66, "Not gate but edge-proxy, gate is taken.", "edge-proxy"]
    ]
  },
  {
    name: "log level",
    said: [
      [18, "Set the log level to debug.", "debug"],
      [81, "The log level is\nwarn, not debug.", "warn"]
    ]
  }
]

const FILES = "proxy server routes config headers limits retry cache upstream health".split(" ")
const PARTS = "request response timeout header body socket queue token".split(" ")

/** Numbers below n, the same each time. */
const numbers = (seed: number): ((n: number) => number) => {
  let state = seed
  return (n) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    return (state >>> 8) % n
  }
}

const source = (file: string, below: (n: number) => number): string => {
  const part = PARTS[below(PARTS.length)]!
  const lines = [
    `import { ${part} } from "./${part}.ts"`,
    "",
    `/** Parts of the ${part} that the ${file} needs. */`,
    `export const ${file}${below(90)} = (input: string): string => {`,
    `  // The ${part} comes first.`,
    "  if (!",
    `    input.startsWith("${part}")`,
    "  ) {",
    `    throw new TypeError(\`no ${part}: \${input}\`)`,
    "  }",
    `  const parts = input.split("/").filter((one) => one !== "")`,
    `  return parts.map((one, i) => \`\${i}-\${one}\`).join(":")`,
    `} // test/${file}.test.ts:${below(60)}`,
    "",
    "/** Tests of this part. */",
    `describe("${part}", () => {`,
    `  it("keeps the ${part} whole", () => {`,
    `    expect(${file}("a/b")).toBe("0-a:1-b")`,
    "  })",
    "})"
  ]
  return lines.map((line, i) => `${i + 1}\t${line}`).join("\n")
}

const run = (file: string, failed: number, ms: number): string =>
  [
    "",
    `> gate@0.4.1 test`,
    `> vitest run test/${file}.test.ts`,
    "",
    ` ✓ test/config.test.ts (4 tests) ${ms}ms`,
    ...(failed === 0
      ? []
      : [
          ` FAIL  test/${file}.test.ts > ${file} > keeps the body whole`,
          `AssertionError: the ${file} dropped ${failed} bodies of 12 on a slow socket`,
          `    at Object.<anonymous> (/srv/gate/test/${file}.test.ts:13:21)`
        ]),
    "",
    " Test Files  1 passed (1)",
    `      Tests  ${failed === 0 ? "" : `${failed} failed | `}${211 - failed} passed (211)`,
    "   Start at  10:12:07",
    `   Duration  ${ms}ms`
  ].join("\n")

/** 200 turns of a coding agent, as a host sends them; each turn is one list of messages. */
export const codingTurns = (seed = 1): ReadonlyArray<ReadonlyArray<Message>> => {
  const below = numbers(seed)
  return Array.from({ length: 200 }, (_, turn) => {
    const file = FILES[below(FILES.length)]!
    const path = `src/${file}.ts`
    const said = topics.flatMap((topic) => topic.said.filter(([at]) => at === turn))
    const messages: Array<Message> = []
    if (turn === 0)
      messages.push({ role: "user", content: "Build the gate that the shop sits behind." })
    if (turn === 3)
      messages.push({ role: "user", content: "Never restart the payment worker before 18:00." })
    for (const [, text] of said) messages.push({ role: "user", content: text })
    if (said.length === 0 && turn % 3 === 1) {
      const [part, other] = [PARTS[below(PARTS.length)]!, PARTS[below(PARTS.length)]!]
      const ask = [
        `Go on with the ${file} and its ${part}.`,
        `Please use a ${part} of ${below(900)} for the ${file}, as the ${other} has it.`,
        `Let's make the ${file} read each ${part} before the ${other}.`
      ]
      messages.push({ role: "user", content: ask[below(ask.length)]! })
    }
    const call = (name: string, args: unknown, text: string, result: string, isError = false) => {
      const id = `${name}-${turn}`
      messages.push({
        role: "assistant",
        content: [
          { type: "text", text },
          { type: "toolCall", id, name, arguments: args }
        ]
      })
      const content = [{ type: "text" as const, text: result }]
      messages.push({ role: "toolResult", toolCallId: id, toolName: name, isError, content })
    }
    call("read", { path }, `Let me look at ${path}.`, source(file, below))
    if (turn % 3 === 1)
      call("edit", { path, old: "if (!", new: "if (" }, "Now I change it.", `Edited ${path}.`)
    if (turn % 4 === 2) {
      const failed = turn % 16 === 10 ? 1 + below(4) : 0
      const command = `npx vitest run test/${file}.test.ts`
      call("bash", { command }, "I run the tests:", run(file, failed, 90 + below(900)), failed > 0)
      if (failed > 0)
        messages.push({
          role: "assistant",
          content: `The ${file} test fails since the socket closes early; the retry has not\nbeen merged.`
        })
      else if (turn % 8 === 6)
        messages.push({ role: "assistant", content: `The ${file} keeps bodies whole: fixed.` })
    }
    return messages
  })
}
