import { existsSync } from "node:fs"
import { join } from "node:path"
import * as ClaudeCode from "./ClaudeCode.ts"
import * as Cline from "./Cline.ts"
import * as Codex from "./Codex.ts"
import { dataDir } from "./Data.ts"
import * as GeminiCli from "./GeminiCli.ts"
import * as Inspect from "./Inspect.ts"
import * as Midscene from "./Midscene.ts"
import * as OpenCua from "./OpenCua.ts"
import * as OpenHands from "./OpenHands.ts"
import * as OpenHandsSdk from "./OpenHandsSdk.ts"
import * as Pi from "./Pi.ts"
import * as ScreenAgent from "./ScreenAgent.ts"
import * as Screens from "./Screens.ts"
import type { Session } from "./Session.ts"
import * as SweAgent from "./SweAgent.ts"
import * as UiTars from "./UiTars.ts"
import * as WebVoyager from "./WebVoyager.ts"

/** A session that can be read. */
export interface Entry {
  readonly name: string
  /** What the agent worked on: files and a shell, or a screen. */
  readonly kind: "coding" | "gui"
  /** Path of its file or folder. */
  readonly path: string
  readonly read: () => Session
}

type Known = readonly [
  name: string,
  kind: Entry["kind"],
  path: string,
  read: (path: string) => Session
]

const run = (n: number) => (path: string) => OpenHands.read(path, n)

const KNOWN: ReadonlyArray<Known> = [
  ["pi/large-session", "coding", "pi/large-session.jsonl", Pi.read],
  ["claude-code/docker", "coding", "cua-claude-code/docker__linux.session.jsonl", ClaudeCode.read],
  ["claude-code/gitlab", "coding", "cua-claude-code/gitlab__linux.session.jsonl", ClaudeCode.read],
  [
    "claude-code/openshot",
    "coding",
    "cua-claude-code/openshot__linux.session.jsonl",
    ClaudeCode.read
  ],
  ["claude-code/puppet", "coding", "cua-claude-code/puppet__linux.session.jsonl", ClaudeCode.read],
  [
    "claude-code/pycharm",
    "coding",
    "cua-claude-code/pycharm__linux.session.jsonl",
    ClaudeCode.read
  ],
  [
    "claude-code/session-196820da",
    "coding",
    "codemie-claude-code/session-196820da.jsonl",
    ClaudeCode.read
  ],
  [
    "claude-code/agent-a485154",
    "coding",
    "codemie-claude-code/agent-a485154.jsonl",
    ClaudeCode.read
  ],
  [
    "codex/rollout",
    "coding",
    "codemie-codex/rollout-2026-05-11T11-26-55-019e1625-789d-76c0-80ab-3724b5ddb799.jsonl",
    Codex.read
  ],
  [
    "gemini-cli/file-ops",
    "coding",
    "codemie-gemini/session-2026-01-16T11-01-file-ops-37b7abef.json",
    GeminiCli.read
  ],
  ["openhands/ponyc-4595", "coding", "openhands/multi_swe_bench_output.jsonl", run(0)],
  ["openhands/ponyc-4593", "coding", "openhands/multi_swe_bench_output.jsonl", run(1)],
  ["openhands/ponyc-4588", "coding", "openhands/multi_swe_bench_output.jsonl", run(2)],
  ["openhands-sdk/calls", "coding", "openhands-sdk-llm-logs", OpenHandsSdk.read],
  [
    "openhands-sdk/messages",
    "coding",
    "openhands-sdk-llm-logs/fncall-llm-message.json",
    OpenHandsSdk.read
  ],
  [
    "swe-agent/function-calling",
    "coding",
    "swe-agent/demonstrations__function_calling_simple.traj",
    SweAgent.read
  ],
  [
    "swe-agent/pydicom-1458",
    "coding",
    "swe-agent/gpt4__swe-bench-dev-easy_first_only__default__t-0.00__p-0.95__c-3.00__install-1__pydicom__pydicom-1458.traj",
    SweAgent.read
  ],
  [
    "swe-agent/marshmallow-1867",
    "coding",
    "swe-agent/shmallow-code__marshmallow-1867__function_calling_replace_from_source__marshmallow-code__marshmallow-1867.traj",
    SweAgent.read
  ],
  ["swe-agent/i-got-id", "coding", "swe-agent/web__i_got_id_demo.traj", SweAgent.read],
  ["cline/session", "coding", "cline/session.messages.json", Cline.read],
  ["LibreOffice", "gui", "screenagent/ff96a332fa2a48eb85957b57f2274ab0", ScreenAgent.read],
  ["VS Code", "gui", "screenagent/0bdb194d494c4033b24733d2afd99700", ScreenAgent.read],
  ["Booking", "gui", "midscene/android-booking.json", Midscene.read],
  ["GitHub", "gui", "midscene/web-github.json", Midscene.read],
  ["Windows settings", "gui", "opencua/raw_example.jsonl", OpenCua.read],
  ["Flights", "gui", "webvoyager/google-flights-8", WebVoyager.read],
  ["midscene/saucedemo", "gui", "midscene/saucedemo-dump.json", Midscene.read],
  ["ui-tars/event-stream", "gui", "ui-tars/event-stream-with-many-images.jsonl", UiTars.read],
  ["inspect/browser", "gui", "inspect-ai/2025-05-12T20-27-36-04-00_browser.json", Inspect.read],
  ["ufo-4k", "gui", "ufo-4k", Screens.read],
  ["playwright-4k", "gui", "playwright-4k", Screens.read]
]

/**
 * The real sessions that are there, by name. Nothing is read before `read()` is called; each call reads anew.
 *
 * @example
 * ```ts
 * import { sessions } from "@varve-examples/session-readers/Sessions"
 *
 * console.log(sessions("/nowhere").length) // => 0
 * ```
 */
export const sessions = (folder: string = dataDir()): ReadonlyArray<Entry> =>
  KNOWN.map(([name, kind, path, read]) => ({
    name,
    kind,
    path: join(folder, path),
    read: () => ({ ...read(join(folder, path)), name })
  })).filter(({ path }) => existsSync(path))

/** Reads one session by name; an unknown name throws with those that are there. */
export const session = (name: string, folder: string = dataDir()): Session => {
  const all = sessions(folder)
  const found = all.find((entry) => entry.name === name)
  if (found !== undefined) return found.read()
  const names = all.map((entry) => entry.name).join(", ")
  throw new Error(`No session named "${name}" in ${folder}. There are: ${names || "none"}.`)
}

/** The names of the six real screenshot sequences. */
export const SCREENSHOT_SEQUENCES = [
  "LibreOffice",
  "VS Code",
  "Booking",
  "GitHub",
  "Windows settings",
  "Flights"
] as const
