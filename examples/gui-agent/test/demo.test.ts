import { dataDir, requireData } from "@varve-examples/session-readers/Data"
import { spawnSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, describe, expect, it } from "vitest"
import { readSession } from "../src/Session.ts"

const here = import.meta.dirname
const program = join(here, "../src/demo.ts")
const recording = join(here, "../recording/session.jsonl")
const folder = mkdtempSync(join(tmpdir(), "demo-"))
afterAll(() => rmSync(folder, { recursive: true }))

/** Ends a process as soon as it asks for a network. */
const offline = `data:text/javascript,${encodeURIComponent(`
  import { Socket } from "node:net"
  Socket.prototype.connect = () => {
    console.error("it asked for a network")
    process.exit(99)
  }
`)}`

/** Runs what \`npm run demo\` runs, without a network and without keys; one that takes a minute is ended. */
const demo = (...args: ReadonlyArray<string>) => {
  const { status, stderr, stdout } = spawnSync(
    process.execPath,
    ["--conditions=@varve/source", "--import", offline, program, ...args],
    { encoding: "utf8", timeout: 60_000, env: {}, maxBuffer: 1e8 }
  )
  return { status, stderr, lines: stdout.split("\n") }
}

const COLUMNS = ["req", "messages", "tokens", "images", "bytes", "edits", "kept"]

/** The figures before and after of a request's line: messages, tokens, images, bytes. */
const FIGURES = /^ *(\d+) +(\S+) > (\S+) +(\S+) > (\S+) +(\S+) > (\S+) +(\S+) > (\S+)/

const number = (text: string): number =>
  Number.parseFloat(text) * (text.endsWith("M") ? 1e6 : text.endsWith("k") ? 1e3 : 1)

const check = (lines: ReadonlyArray<string>, requests: number): void => {
  const words = lines.map((line) => line.trim().split(/ +/))
  expect(words).toContainEqual(COLUMNS)
  const rows = lines.flatMap((line) => {
    const found = FIGURES.exec(line)
    return found === null ? [] : [{ line, figures: found.slice(1).map(number) }]
  })
  expect(rows.map(({ figures }) => figures[0])).toEqual(
    Array.from({ length: requests }, (_, i) => i + 1)
  )
  for (const { line } of rows.slice(1)) expect(line).toMatch(/ \d+ %/)
  const text = lines.join("\n")
  for (const axis of ["tokens", "bytes"]) {
    const [, before, after] = new RegExp(`^ +${axis} +(\\S+) > (\\S+) .*% less`, "m").exec(text)!
    expect(number(after!)).toBeLessThan(number(before!))
  }
  expect(text).toMatch(/edits in force [1-9]\d*; the prefix changed \d+ times in \d+ requests/)
  expect(text).toMatch(/^Sent at the last request \(\d+ messages\):\n {2}user +\S/m)
  expect(text).toContain("[Step memory")
}

describe("the demo", () => {
  it("replays the recording without a network, request by request, with totals", () => {
    const { lines, status, stderr } = demo()
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" })
    check(lines, readSession(recording).requests.length)
    expect(lines.join("\n")).toMatch(/^ +images +\S+ > \S+ .*% less/m)
    expect(lines.join("\n")).toContain("[image 1280x720; step ")
    const readme = readFileSync(join(here, "../../../README.md"), "utf8")
    const [, shown] = /`npm run demo`\):\n\n```\n(.*?)\n```/s.exec(readme)!
    expect(lines.join("\n")).toContain(shown)
  }, 60_000)

  it.skipIf(!requireData("the demo on a session of pi"))(
    "takes any session file of pi",
    () => {
      const file = join(dataDir(), "pi/large-session.jsonl")
      const { lines, status, stderr } = demo(file)
      expect({ status, stderr }).toEqual({ status: 0, stderr: "" })
      check(lines, readSession(file).requests.length)
    },
    60_000
  )

  it("says in one line what is wrong with a file, and ends with 1", () => {
    const broken = join(folder, "broken.jsonl")
    writeFileSync(broken, '{"type":"session","id":"s"}\n{"type":"message","mess')
    expect(demo(broken)).toEqual({
      status: 1,
      lines: [""],
      stderr: `${broken}, line 2: this is no JSON object; a session has one on each line.\n`
    })
    expect(demo(join(folder, "missing.jsonl"))).toEqual({
      status: 1,
      lines: [""],
      stderr: `${join(folder, "missing.jsonl")}: there is no such file.\n`
    })
    expect(demo(folder)).toEqual({
      status: 1,
      lines: [""],
      stderr: `${folder}: this is a folder; a session is a file (JSONL).\n`
    })
  }, 60_000)

  it("explains itself, and refuses options and files that it doesn't take", () => {
    for (const flag of ["--help", "-h"]) {
      const { lines, status, stderr } = demo(flag)
      expect({ status, stderr }).toEqual({ status: 0, stderr: "" })
      expect(lines.join("\n")).toContain("npm run demo -- FILE")
    }
    const see = " See: npm run demo -- --help\n"
    expect(demo("--fast")).toMatchObject({
      status: 2,
      stderr: `There is no option --fast.${see}`
    })
    expect(demo(recording, recording)).toMatchObject({
      status: 2,
      stderr: `One file at a time; 2 were given.${see}`
    })
  }, 60_000)

  it("says what its columns mean, and the README says what it says", () => {
    const { lines } = demo()
    for (const column of ["tokens", "bytes", "edits", "kept"]) {
      expect(lines.some((line) => new RegExp(`^ {2}${column} +[a-z]`).test(line))).toBe(true)
    }
    const readme = readFileSync(join(here, "../../../README.md"), "utf8").split("\n")
    for (const axis of ["tokens", "bytes", "images"]) {
      const row = new RegExp(`^ +${axis} +\\S+ > \\S+ +\\((\\d+) % less\\)`)
      const [now, said] = [lines, readme].map((text) =>
        Number(text.flatMap((line) => row.exec(line)?.[1] ?? [])[0])
      )
      // A few points: what counts is that the README doesn't promise what is long gone.
      expect(Math.abs(now! - said!), axis).toBeLessThanOrEqual(4)
    }
  }, 60_000)
})
