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

const help = `Replays a session of an agent request by request through a memory, and shows what each request would have held.

  npm run demo            the recording of a GUI agent: 66 steps with 68 screenshots
  npm run demo -- FILE    a session file of pi (JSONL), as it lies under ~/.pi/agent/sessions

Nothing is sent anywhere, and the file is only read.`

/** The file to replay; nothing where help was asked for. */
const fileOf = (args: ReadonlyArray<string>): string | undefined => {
  const option = args.find((arg) => arg.startsWith("-"))
  if (option === "--help" || option === "-h") return undefined
  if (option !== undefined) throw new UsageError(`There is no option ${option}.`)
  if (args.length > 1) throw new UsageError(`One file at a time; ${args.length} were given.`)
  return args[0] ?? own
}

class UsageError extends Error {}

/** Why a file can't be read, for people. */
const reasons: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file.",
  EISDIR: "this is a folder; a session is a file (JSONL).",
  EACCES: "it may not be read.",
  EPERM: "it may not be read."
}

const read = (file: string) => {
  try {
    return readSession(file)
  } catch (error) {
    const { code = "" } = error as { readonly code?: string }
    const reason = reasons[code]
    throw reason === undefined ? error : new SessionError(file, undefined, reason)
  }
}

const main = async (): Promise<void> => {
  const file = fileOf(process.argv.slice(2))
  if (file === undefined) return console.log(help)
  const session = read(file)
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
  if (error instanceof UsageError) {
    process.exitCode = 2
    console.error(`${error.message} See: npm run demo -- --help`)
    return
  }
  process.exitCode = 1
  console.error(error instanceof SessionError ? error.message : error)
})
