// Log files of other agents as the requests that they hold, in the shape in which they were sent.
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { dataDir } from "@varve-examples/session-readers/Data"

type Json = Record<string, any>

/** A real conversation in a host's shape. */
export interface Log {
  readonly name: string
  readonly host: "anthropic" | "chat" | "responses"
  readonly read: () => ReadonlyArray<Json>
}

const file = (...path: ReadonlyArray<string>): string =>
  readFileSync(join(dataDir(), ...path), "utf8")
const json = (...path: ReadonlyArray<string>): Json => JSON.parse(file(...path))
const lines = (...path: ReadonlyArray<string>): ReadonlyArray<Json> =>
  file(...path)
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => JSON.parse(line))

/** One API message is several lines, with one block each. */
const claudeCode = (path: string) => (): ReadonlyArray<Json> => {
  const out: Array<Json> = []
  const entries = lines(path)
  const subagent =
    entries.find((e) => e.type === "user" || e.type === "assistant")?.isSidechain === true
  let id: string | undefined
  for (const { isSidechain, message, type } of entries) {
    if ((type !== "user" && type !== "assistant") || (isSidechain === true && !subagent)) continue
    if (message.model === "<synthetic>") continue
    const { content, role } = message
    if (type === "assistant" && message.id === id) out.at(-1)!.content.push(...content)
    else out.push(type === "assistant" ? { ...message, content: [...content] } : { role, content })
    id = type === "assistant" ? message.id : undefined
  }
  return out
}

const codex = (path: string) => (): ReadonlyArray<Json> =>
  lines(path).flatMap(({ payload, type }) => (type === "response_item" ? [payload] : []))

const openHands = (run: number) => (): ReadonlyArray<Json> => {
  const out: Array<Json> = []
  const seen = new Set<string>()
  for (const event of lines("openhands", "multi_swe_bench_output.jsonl")[run]!
    .history as ReadonlyArray<Json>) {
    const call = event.tool_call_metadata
    if (event.action === "system") out.push({ role: "system", content: event.args.content })
    else if (event.action === "message" && event.source === "user")
      out.push({ role: "user", content: event.args.content })
    else if (event.action !== undefined && call !== undefined) {
      if (seen.has(call.model_response.id)) continue
      seen.add(call.model_response.id)
      out.push(call.model_response.choices[0].message)
    } else if (event.observation !== undefined && call !== undefined)
      out.push({
        role: "tool",
        tool_call_id: call.tool_call_id,
        name: call.function_name,
        content: event.content
      })
    else if (event.observation === "error") out.push({ role: "user", content: event.content })
  }
  return out
}

const SDK = "openhands-sdk-llm-logs"

const openHandsCalls = (): ReadonlyArray<Json> => {
  const names = readdirSync(join(dataDir(), SDK)).filter((name) => /^litellm_.*\.json$/.test(name))
  const last = json(SDK, names.toSorted().at(-1)!)
  return [...last.messages, last.response.choices[0].message]
}

const sweAgent = (path: string) => (): ReadonlyArray<Json> =>
  (json(path).history as ReadonlyArray<Json>).map((message) =>
    message.role === "tool" ? { ...message, tool_call_id: message.tool_call_ids[0] } : message
  )

const inspect = (path: string) => (): ReadonlyArray<Json> => {
  const [sample] = json(path).samples
  const text = JSON.stringify(
    (sample.events as ReadonlyArray<Json>).findLast(({ event }) => event === "model")!.call,
    (_, value: unknown) =>
      typeof value === "string" && value.startsWith("attachment://")
        ? (sample.attachments[value.slice(13)] ?? value)
        : value
  )
  const { request, response } = JSON.parse(text)
  return [...request.messages, response.choices[0].message]
}

const of = (
  host: Log["host"],
  read: (path: string) => Log["read"],
  ...paths: ReadonlyArray<string>
): ReadonlyArray<Log> => paths.map((name) => ({ name, host, read: read(name) }))

const claudeLogs = ["docker", "gitlab", "openshot", "puppet", "pycharm"].map(
  (n) => `cua-claude-code/${n}__linux.session.jsonl`
)

/** Every real conversation of the shapes that the codecs know. */
export const logs: ReadonlyArray<Log> = [
  ...of(
    "anthropic",
    claudeCode,
    ...claudeLogs,
    "codemie-claude-code/session-196820da.jsonl",
    "codemie-claude-code/agent-a485154.jsonl"
  ),
  ...of("anthropic", (path) => () => json(path).messages, "cline/session.messages.json"),
  ...of(
    "responses",
    codex,
    "codemie-codex/rollout-2026-05-11T11-26-55-019e1625-789d-76c0-80ab-3724b5ddb799.jsonl"
  ),
  ...[0, 1, 2].map((run): Log => ({
    name: `openhands/${run}`,
    host: "chat",
    read: openHands(run)
  })),
  { name: "openhands-sdk/calls", host: "chat", read: openHandsCalls },
  ...of(
    "chat",
    (path) => () => json(path) as unknown as ReadonlyArray<Json>,
    `${SDK}/fncall-llm-message.json`
  ),
  ...of(
    "chat",
    sweAgent,
    "swe-agent/demonstrations__function_calling_simple.traj",
    "swe-agent/gpt4__swe-bench-dev-easy_first_only__default__t-0.00__p-0.95__c-3.00__install-1__pydicom__pydicom-1458.traj",
    "swe-agent/shmallow-code__marshmallow-1867__function_calling_replace_from_source__marshmallow-code__marshmallow-1867.traj",
    "swe-agent/web__i_got_id_demo.traj"
  ),
  ...of("chat", inspect, "inspect-ai/2025-05-12T20-27-36-04-00_browser.json")
]
