import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, describe, expect, it } from "vitest"
import { readSession, SessionError, type SessionMessage } from "../src/Session.ts"

const here = import.meta.dirname
const folder = mkdtempSync(join(tmpdir(), "session-"))
afterAll(() => rmSync(folder, { recursive: true }))

const header = { type: "session", id: "s", timestamp: "2026-03-02T09:00:00.000Z", cwd: "." }
const file = (...lines: ReadonlyArray<unknown>): string => {
  const path = join(folder, "session.jsonl")
  const text = lines.map((line) => (typeof line === "string" ? line : JSON.stringify(line)))
  writeFileSync(path, text.join("\n"))
  return path
}
const said = (text: string) => ({ role: "user", content: [{ type: "text", text }], timestamp: 1 })
const message = (value: unknown, place: object = {}) => ({
  type: "message",
  timestamp: header.timestamp,
  ...place,
  message: value
})
const problemOf = (path: string): SessionError => {
  try {
    readSession(path)
  } catch (error) {
    if (error instanceof SessionError) return error
  }
  throw new Error("It should have failed with a SessionError.")
}

interface Block {
  readonly type: string
  readonly id?: string
  readonly data?: string
  readonly arguments?: Readonly<Record<string, unknown>>
}
const blocksOf = ({ content }: SessionMessage): ReadonlyArray<Block> =>
  Array.isArray(content) ? (content as ReadonlyArray<Block>) : []

describe("the recording", () => {
  const { messages, requests, system, tools } = readSession(
    join(here, "../recording/session.jsonl")
  )
  const calls = messages
    .filter(({ role }) => role === "assistant")
    .map((one) => blocksOf(one).filter(({ type }) => type === "toolCall"))

  it("has at least 40 steps and 40 screenshots of 1280 x 720 px", () => {
    const images = messages.flatMap(blocksOf).filter(({ type }) => type === "image")
    expect(calls.filter((batch) => batch.length > 0).length).toBeGreaterThanOrEqual(40)
    expect(new Set(images.map(({ data }) => data)).size).toBeGreaterThanOrEqual(40)
    for (const { data = "" } of images) {
      const png = Buffer.from(data, "base64")
      expect([png.toString("latin1", 1, 4), png.readUInt32BE(16), png.readUInt32BE(20)]).toEqual([
        "PNG",
        1280,
        720
      ])
    }
  })

  it("has parallel calls, failures, thinking, a frame that stands still and several turns", () => {
    const roles = messages.map(({ role }) => role)
    const images = messages.flatMap(blocksOf).flatMap(({ data }) => data ?? [])
    expect(calls.filter((batch) => batch.length > 1).length).toBeGreaterThanOrEqual(3)
    expect(messages.filter((one) => one["isError"] === true).length).toBeGreaterThanOrEqual(3)
    expect(messages.flatMap(blocksOf).some(({ type }) => type === "thinking")).toBe(true)
    expect(images.some((data, index) => data === images[index - 1])).toBe(true)
    expect(roles.filter((role) => role === "user").length).toBeGreaterThanOrEqual(2)
  })

  it("answers every call once, and every call has a goal", () => {
    const made = calls.flat()
    const answered = messages.flatMap((one) => one["toolCallId"] ?? [])
    expect(answered).toEqual(made.map(({ id }) => id))
    expect(made.every((call) => typeof call.arguments?.["goal"] === "string")).toBe(true)
  })

  it("tells what a request carried besides messages", () => {
    expect(system).toContain("back office")
    expect(tools?.length).toBeGreaterThan(5)
    expect(requests[0]).toBe(1)
    expect(requests.at(-1)).toBe(messages.length - 1)
  })
})

describe("readSession", () => {
  it("keeps files of version 1 in order, with roles that it doesn't know and what was compacted", () => {
    const shell = { role: "bashExecution", command: "ls", output: "a", exitCode: 0, timestamp: 3 }
    const reply = { role: "assistant", content: [], stopReason: "aborted", timestamp: 2 }
    const inline = {
      role: "user",
      content: [{ type: "image", data: "AAAA", mimeType: "image/png" }],
      timestamp: 4
    }
    const compaction = { type: "compaction", summary: "x", firstKeptEntryIndex: 2, tokensBefore: 9 }
    const { messages, requests } = readSession(
      file(header, message(said("a")), message(reply), compaction, message(shell), message(inline))
    )
    expect(messages).toEqual([said("a"), reply, shell, inline])
    expect(requests).toEqual([1])
  })

  it("follows the branch of the last entry in files that are a tree", () => {
    const { messages } = readSession(
      file(
        { ...header, version: 3 },
        message(said("a"), { id: "1", parentId: null }),
        message(said("left"), { id: "2", parentId: "1" }),
        { type: "custom_message", customType: "note", content: "n", id: "3", parentId: "1" },
        message(said("right"), { id: "4", parentId: "3" })
      )
    )
    expect(messages.map(({ role }) => role)).toEqual(["user", "custom", "user"])
    expect(messages.at(-1)).toEqual(said("right"))
  })

  it.each([
    ["a torn line", [header, message(said("a")), '{"type":"mess'], 3, "no JSON object"],
    ["another kind of file", [message(said("a"))], 1, "no pi session"],
    ["an empty file", [], 1, "empty"],
    ["a message without a role", [header, message({ content: [] })], 2, "role"],
    ["a missing message", [header, { type: "message" }], 2, "role"],
    ["a lost parent", [header, message(said("a"), { id: "2", parentId: "1" })], 2, "parent"],
    ["a circle", [header, message(said("a"), { id: "1", parentId: "1" })], 2, "ancestor"]
  ])("names the line of %s", (_, lines, line, what) => {
    const problem = problemOf(file(...lines))
    expect(problem.line).toBe(line)
    expect(problem.message).toContain(what)
    expect(problem.message).toContain(`session.jsonl, line ${line}: `)
  })

  it("reads image files beside the session, and none elsewhere", () => {
    mkdirSync(join(folder, "images"), { recursive: true })
    writeFileSync(join(folder, "images/1.png"), "shot")
    const shown = (name: string) => ({
      role: "user",
      content: [{ type: "image", file: name, mimeType: "image/png" }]
    })
    const data = Buffer.from("shot").toString("base64")
    const { messages } = readSession(file(header, message(shown("images/1.png"))))
    expect(messages[0]?.["content"]).toEqual([{ type: "image", data, mimeType: "image/png" }])
    expect(problemOf(file(header, message(shown("images/2.png")))).message).toContain(
      "can't be read"
    )
    for (const outside of ["../1.png", join(here, "Session.test.ts"), "images/../../x"])
      expect(problemOf(file(header, message(shown(outside)))).message).toContain("outside")
  })

  const data = process.env["VARVE_DATA"] ?? join(here, "../../../../shared/data")
  const real = join(data, "pi/large-session.jsonl")
  const lacking = !existsSync(real) && process.env["CI"] === undefined
  if (lacking) console.warn("VARVE_DATA has no pi/large-session.jsonl: a real session isn't read.")

  it.skipIf(lacking)("reads a real session of pi whole", () => {
    const { messages, requests } = readSession(real)
    expect(messages).toHaveLength(914)
    expect(requests).toHaveLength(453)
    for (const index of requests) expect(messages[index]?.role).toBe("assistant")
  })
})
