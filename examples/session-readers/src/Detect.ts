import { readdirSync, statSync } from "node:fs"
import * as ClaudeCode from "./ClaudeCode.ts"
import * as Cline from "./Cline.ts"
import * as Codex from "./Codex.ts"
import * as GeminiCli from "./GeminiCli.ts"
import * as Inspect from "./Inspect.ts"
import { fail, isObject, type Json, jsonFile, load, parsed } from "./internal/json.ts"
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

type Read = (path: string) => Session

/** The names of what can be read, for an error. */
const FORMATS =
  "pi, Claude Code, Codex, Gemini CLI, Cline, OpenHands, SWE-agent, Inspect, Agent TARS, Midscene, " +
  "OpenCUA; folders of ScreenAgent, WebVoyager, the OpenHands SDK, and of screens"

/**
 * Reads a log of any agent that has a reader here: a file by what stands in it, a folder by its files' names. Of
 * a file with several runs the first.
 *
 * Fails with `SessionFileError`: as the reader does, and with the list of formats where none is recognized.
 *
 * @example
 * ```ts
 * import { read } from "@varve-examples/session-readers/Detect"
 *
 * const requests = (path: string) => read(path).requests.length
 * ```
 */
export const read = (path: string): Session => {
  const reader = isFolder(path) ? readerOfFolder(path) : readerOfText(path, load(path))
  return reader === undefined
    ? fail({ file: path }, `is no log that a reader knows. There are readers for ${FORMATS}.`)
    : reader(path)
}

const isFolder = (path: string): boolean => {
  try {
    return statSync(path).isDirectory()
  } catch (cause) {
    return fail({ file: path }, "can't be read: is it there?", cause)
  }
}

const readerOfFolder = (path: string): Read | undefined => {
  const names = readdirSync(path)
  const has = (pattern: RegExp): boolean => names.some((name) => pattern.test(name))
  if (has(/^litellm_.*\.json$/)) return OpenHandsSdk.read
  if (has(/_translate\.json$/)) return ScreenAgent.read
  if (has(/^interact_messages\.json$/)) return WebVoyager.read
  return names.length > 0 && names.every((name) => /\.(?:png|jpe?g)$/i.test(name))
    ? Screens.read
    : undefined
}

/** A file is one JSON value, or has one in each line. */
const readerOfText = (file: string, text: string): Read | undefined => {
  if (text.trim() === "") return fail({ file }, "is empty")
  const whole = parsed(text)
  if (whole !== text) return isObject(whole) ? readerOfObject(whole) : readerOfList(whole)
  const lines = text.split("\n")
  const first = lines.findIndex((line) => line.trim() !== "")
  for (let i = first; i < lines.length; i++) {
    const line = lines[i]!
    if (line.trim() === "") continue
    const entry = parsed(line)
    // One value over several lines, which is broken somewhere.
    if (entry === line && i === first && /^\s*[[{]\s*$/.test(line)) jsonFile(file)
    if (entry === line) return fail({ file, line: i + 1 }, "not JSON")
    const reader = isObject(entry) ? readerOfLine(entry) : undefined
    if (reader !== undefined) return reader
  }
  return undefined
}

/** Some lines of a log say nothing about what it is. */
const readerOfLine = ({ history, message, payload, traj, type }: Json): Read | undefined => {
  if (Array.isArray(history)) return OpenHands.read
  if (Array.isArray(traj)) return OpenCua.read
  if (typeof type !== "string") return undefined
  if (isObject(payload)) return Codex.read
  if (type === "session" || type === "message") return Pi.read
  return isObject(message) && (type === "user" || type === "assistant")
    ? ClaudeCode.read
    : undefined
}

const readerOfObject = (whole: Json): Read | undefined => {
  const { dump, executions, history, messages, samples } = whole
  if (Array.isArray(samples)) return Inspect.read
  if (Array.isArray(executions) || isObject(dump)) return Midscene.read
  if (Array.isArray(history) && history.some((m) => isObject(m) && m.role !== undefined))
    return SweAgent.read
  if (!Array.isArray(messages)) return readerOfLine(whole)
  return messages.some((m) => isObject(m) && m.type !== undefined) ? GeminiCli.read : Cline.read
}

const readerOfList = (whole: unknown): Read | undefined => {
  const entries = Array.isArray(whole) ? whole.filter(isObject) : []
  if (entries.some(({ role }) => role !== undefined)) return OpenHandsSdk.read
  return entries.some(({ type }) => type !== undefined) ? UiTars.read : undefined
}
