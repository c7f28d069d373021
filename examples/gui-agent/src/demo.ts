/** Replays a recorded session request by request through a pipeline. No key, no network. */
import { createMemory, hardLimit, stepMemory } from "@varve/core"
import { screenshots } from "@varve/strategy-screenshot-prune"
import { fileURLToPath } from "node:url"
import { render } from "./render.ts"
import type { SessionMessage } from "./Session.ts"
import { readSession, SessionError } from "./Session.ts"

const own = fileURLToPath(new URL("../recording/session.jsonl", import.meta.url))

interface Call {
  readonly type: string
  readonly id: string
  readonly name: string
  readonly arguments?: { readonly goal?: unknown }
}

const callsOf = (message: SessionMessage): ReadonlyArray<Call> =>
  message.role === "assistant" && Array.isArray(message["content"])
    ? (message["content"] as ReadonlyArray<Call>).filter((block) => block.type === "toolCall")
    : []

const main = async (): Promise<void> => {
  const file = process.argv[2] ?? own
  const session = readSession(file)
  const memory = createMemory({
    pipeline: [screenshots({ keep: 3, thumbnails: 5 }), stepMemory(), hardLimit()],
    budget: { tokens: 60_000 },
    overhead: () => ({ system: session.system, tools: session.tools })
  })
  const out = render(process.stdout, file, session.requests.length)
  let told = 0
  for (const at of session.requests) {
    // What a host does as it goes: each call is a step, and its result is the outcome.
    for (; told < at; told++) {
      const message = session.messages[told]!
      for (const call of callsOf(message)) {
        const goal = call.arguments?.goal
        const named = typeof goal === "string" ? goal : call.name
        memory.steps.begin({ id: call.id, callId: call.id, tool: call.name, goal: named })
      }
      if (message.role === "toolResult") {
        const id = String(message["toolCallId"])
        const outcome = message["isError"] === true ? "failed" : "success"
        memory.steps.finish({ id, callId: id, outcome })
      }
    }
    const history = session.messages.slice(0, at)
    if (history.length === 0) continue
    const { messages, report } = await memory.prepare(history)
    out.request(report, messages)
  }
  await memory.flush()
  out.end(memory.explain())
  await memory.close()
}

main().catch((error: unknown) => {
  process.exitCode = 1
  // What can't be opened says so itself, with its path.
  const isClear = error instanceof SessionError || (error instanceof Error && "syscall" in error)
  console.error(isClear ? error.message : error)
})
