import { readFileSync } from "node:fs"
import { join } from "node:path"
import sharp from "sharp"
import { describe, expect, it } from "vitest"
import { dataDir, requireData } from "../src/Data.ts"
import type { Block, ImageBlock, Message } from "../src/Message.ts"
import type { Session } from "../src/Session.ts"
import { SCREENSHOT_SEQUENCES, type Entry, session, sessions } from "../src/Sessions.ts"

const data = requireData("the session readers on real sessions")

const blocksOf = ({ content }: Message): ReadonlyArray<Block> =>
  typeof content === "string" ? [{ type: "text", text: content }] : content

const blocks = ({ messages }: Session, role?: Message["role"]): ReadonlyArray<Block> =>
  messages.filter((message) => role === undefined || message.role === role).flatMap(blocksOf)

const images = (from: Session): ReadonlyArray<ImageBlock> =>
  blocks(from).filter((block) => block.type === "image")

const distinct = (from: Session): number => new Set(images(from).map((image) => image.data)).size

const numberOf = (from: Session, role: Message["role"]): number =>
  from.messages.filter((message) => message.role === role).length

const sum = (values: ReadonlyArray<number>): number => values.reduce((a, b) => a + b, 0)

/** What a session of each format has of what the table counts. Formats that build their conversation are not in the table. */
const MESSAGES: Readonly<Record<string, (from: Session) => number>> = {
  pi: ({ messages }) => messages.length,
  // One line a block; the list of skills is a block of a prompt here, and no message there.
  "cua-claude-code": (s) =>
    blocks(s, "assistant").length + numberOf(s, "user") + numberOf(s, "toolResult"),
  "codemie-claude-code": (s) =>
    blocks(s, "assistant").length + numberOf(s, "user") + numberOf(s, "toolResult"),
  "codemie-codex": (s) =>
    blocks(s, "assistant").length + s.messages.length - numberOf(s, "assistant"),
  // Results are inside of the replies there.
  "codemie-gemini": (s) => numberOf(s, "user") + numberOf(s, "assistant"),
  // The system prompt and what is left out are events there.
  openhands: (s) => s.messages.length + 1 + sum(Object.values(s.skipped)),
  "swe-agent": (s) => s.messages.length + 1,
  cline: ({ messages }) => messages.length,
  "inspect-ai": ({ messages }) => messages.length,
  // Tasks there: model calls, actions, and the searches that are left out.
  midscene: (s) => s.requests.length + actions(s) + sum(Object.values(s.skipped))
}

const actions = (from: Session): number =>
  from.messages.filter(
    (m) => m.role === "toolResult" && m.toolName !== "Sleep" && m.toolName !== "Locate"
  ).length

/** Calls, those that the provider runs itself among them. */
const calls = (from: Session): number =>
  blocks(from).filter(({ type }) => type === "toolCall" || (type as string) === "web_search_call")
    .length

interface Row {
  readonly file: string
  readonly fmt: string
  readonly messages: number
  readonly requests: number
  readonly calls: number
  readonly images: number
  readonly dims: string
  readonly peak: number
  readonly totals: Readonly<Record<string, number>>
}

const table = (): ReadonlyArray<Row> =>
  readFileSync(join(dataDir(), "SESSIONS.tsv"), "utf8")
    .trim()
    .split("\n")
    .slice(1)
    .map((line) => {
      const c = line.split("\t")
      const [file = "", fmt = ""] = c
      return {
        file,
        fmt,
        messages: Number(c[3]),
        requests: Number(c[4]),
        calls: Number(c[5]),
        images: Number(c[6]),
        dims: c[7] ?? "",
        peak: Number(c[9]),
        totals: JSON.parse(c[12] ?? "{}") as Record<string, number>
      }
    })

/** The session of a row. Several runs of one file are told apart by "line N". */
const entryOf = (row: Row): Entry => {
  const found = sessions().filter(({ path }) => path === join(dataDir(), row.file))
  const entry = found[Number(/line (\d)/.exec(row.fmt)?.[1] ?? 0)]
  if (entry === undefined) throw new Error(`no session of ${row.file}`)
  return entry
}

const total = ({ requests }: Session) => {
  const of = (key: "input" | "cacheRead" | "cacheWrite" | "output") =>
    sum(requests.map(({ usage }) => usage?.[key] ?? 0))
  return {
    input: of("input"),
    cacheRead: of("cacheRead"),
    cacheWrite: of("cacheWrite"),
    output: of("output")
  }
}

/** The table's totals in each format's own words, as uncached, read, written and output. */
const stated = ({ fmt, totals: t }: Row) => {
  const n = (key: string) => t[key] ?? 0
  const parts = (all: number, read: number, written: number, output: number) => ({
    input: all - read - written,
    cacheRead: read,
    cacheWrite: written,
    output
  })
  if (fmt.startsWith("pi"))
    return {
      ...parts(0, 0, 0, n("output")),
      input: n("input"),
      cacheRead: n("cacheRead"),
      cacheWrite: n("cacheWrite")
    }
  if (fmt.startsWith("claude")) {
    return {
      input: n("input_tokens"),
      cacheRead: n("cache_read_input_tokens"),
      cacheWrite: n("cache_creation_input_tokens"),
      output: n("output_tokens")
    }
  }
  if (fmt.startsWith("codex"))
    return parts(n("input_tokens"), n("cached_input_tokens"), 0, n("output_tokens"))
  if (fmt.startsWith("gemini"))
    return parts(n("input"), n("cached"), 0, n("output") + n("thoughts"))
  if (fmt.startsWith("cline")) {
    return parts(n("inputTokens"), n("cacheReadTokens"), n("cacheWriteTokens"), n("outputTokens"))
  }
  if (fmt.startsWith("inspect"))
    return parts(n("input_tokens"), n("input_tokens_cache_read"), 0, n("output_tokens"))
  if (fmt.startsWith("openhands")) {
    return parts(
      n("prompt_tokens"),
      n("cache_read_tokens"),
      n("cache_write_tokens"),
      n("completion_tokens")
    )
  }
  // Midscene's totals don't say what was cached.
  return { prompt: n("prompt_tokens"), output: n("completion_tokens") }
}

/** Marks of the files themselves; what is not named here must not occur. */
const KNOWN = {
  /** Calls that never got a result: aborted turns, and `finish` as the last call of a run. */
  dangling: {
    "pi/large-session": 18,
    "openhands/ponyc-4595": 1,
    "openhands/ponyc-4593": 1,
    "openhands-sdk/calls": 1
  },
  /** Calls whose id an earlier call has too. */
  reused: { "swe-agent/marshmallow-1867": 4, "ui-tars/event-stream": 5 },
  /** Messages without content: aborted answers, and results of tools that printed nothing. */
  empty: { "pi/large-session": 14, "claude-code/session-196820da": 5 },
  /** Messages that are older than the one before. */
  older: { "pi/large-session": 2, "claude-code/session-196820da": 1, "gemini-cli/file-ops": 3 }
} satisfies Record<string, Record<string, number>>

const marks = ({ messages }: Session) => {
  const open = new Map<string, number>()
  const found = { orphans: 0, dangling: 0, reused: 0, empty: 0, older: 0 }
  let newest = 0
  for (const message of messages) {
    for (const block of blocksOf(message)) {
      if (block.type !== "toolCall") continue
      if (open.has(block.id)) found.reused += 1
      open.set(block.id, (open.get(block.id) ?? 0) + 1)
    }
    if (message.role === "toolResult") {
      const left = open.get(message.toolCallId) ?? 0
      if (left === 0 || message.toolName === "") found.orphans += 1
      else open.set(message.toolCallId, left - 1)
    }
    if (message.content.length === 0) found.empty += 1
    if (message.timestamp === undefined) continue
    if (message.timestamp < newest) found.older += 1
    newest = message.timestamp
  }
  found.dangling = sum([...open.values()])
  return found
}

/** Width and height of a session's images. */
const SIZES: Readonly<Record<string, ReadonlyArray<readonly [number, number]>>> = {
  "claude-code/docker": [[1024, 768]],
  "claude-code/openshot": [[1024, 768]],
  "claude-code/puppet": [[1024, 768]],
  "claude-code/pycharm": [[1024, 768]],
  LibreOffice: [[1024, 768]],
  "VS Code": [[1024, 768]],
  Booking: [[393, 873]],
  GitHub: [[1398, 911]],
  "Windows settings": [[1276, 718]],
  Flights: [[1024, 768]],
  "midscene/saucedemo": [[1920, 1080]],
  "ui-tars/event-stream": [[2560, 1600]],
  "ufo-4k": [
    [3838, 2254],
    [3838, 2257],
    [3838, 2248]
  ],
  "playwright-4k": [
    [3654, 2290],
    [3598, 2184]
  ]
}

describe.skipIf(!data)("the table of sessions", () => {
  it.each(data ? table() : [])("agrees on $file $fmt", (row) => {
    const entry = entryOf(row)
    const read = entry.read()
    expect(MESSAGES[row.file.split("/")[0] ?? ""]?.(read)).toBe(row.messages)
    // Demonstrations were written by people: no request was made for their answers.
    if (row.requests > 0) expect(read.requests.length).toBe(row.requests)
    expect(row.file.startsWith("midscene/") ? actions(read) : calls(read)).toBe(row.calls)
    const once = /\((\d+) distinct\)/.exec(row.dims)?.[1]
    if (once === undefined) expect(images(read).length).toBe(row.images)
    else expect(distinct(read)).toBe(Number(once))
    if (row.peak > 0) {
      const sizes = read.requests.map(({ usage: u }) =>
        u === undefined ? 0 : u.input + u.cacheRead + u.cacheWrite
      )
      expect(Math.max(...sizes)).toBe(row.peak)
    }
    if (row.fmt.startsWith("swe-agent")) return
    const { input, cacheRead, cacheWrite, output } = total(read)
    const want = stated(row)
    if ("prompt" in want) expect({ prompt: input + cacheRead, output }).toEqual(want)
    else expect({ input, cacheRead, cacheWrite, output }).toEqual(want)
  })
})

describe.skipIf(!data).each(data ? sessions().map((entry) => [entry.name, entry] as const) : [])(
  "%s",
  (name, entry) => {
    const read = data ? entry.read() : undefined
    const real = read as Session

    it("has no result without its call, and nothing odd but what its file has", () => {
      const known = (of: Readonly<Record<string, number>>) => of[name] ?? 0
      expect(marks(real)).toEqual({
        orphans: 0,
        dangling: known(KNOWN.dangling),
        reused: known(KNOWN.reused),
        empty: known(KNOWN.empty),
        older: known(KNOWN.older)
      })
    })

    it("has requests in order, each with its answer", () => {
      const at = real.requests.map((request) => request.at)
      expect(at).toEqual([...new Set(at)].toSorted((a, b) => a - b))
      for (const index of at) expect(real.messages[index]?.role).toBe("assistant")
      for (const { usage } of real.requests) {
        for (const tokens of Object.values(usage ?? {})) expect(tokens).toBeGreaterThanOrEqual(0)
      }
    })

    it("has no image in a text", () => {
      for (const block of blocks(real)) {
        if (block.type === "text")
          expect(/;base64,|[A-Za-z0-9+/]{5000}/.test(block.text)).toBe(false)
      }
      expect(/;base64,/.test(real.system ?? "")).toBe(false)
    })

    it("has no blocks but text, images, reasoning and calls, and what a provider ran itself", () => {
      const others = blocks(real).filter(
        ({ type }) => !/^(text|image|thinking|toolCall)$/.test(type)
      )
      expect(others.map(({ type }) => type as string)).toEqual(
        name === "codex/rollout" ? Array(3).fill("web_search_call") : []
      )
    })

    it("is the same when it is read again", () => {
      expect(entry.read()).toEqual(real)
    })

    it("has images that decode to their size", { timeout: 60_000 }, async () => {
      const seen = new Set<string>()
      for (const { data: base64, mimeType } of images(real)) {
        if (seen.has(base64)) continue
        seen.add(base64)
        const image = sharp(Buffer.from(base64, "base64"), { failOn: "error" })
        const { format } = await image.metadata()
        expect(`image/${format}`).toBe(mimeType)
        const { info } = await image.raw().toBuffer({ resolveWithObject: true })
        expect(SIZES[name]).toContainEqual([info.width, info.height])
      }
      expect(seen.size > 0).toBe(SIZES[name] !== undefined)
    })
  }
)

describe.skipIf(!data)("the six screenshot sequences", () => {
  it("are there by name, with every screen of theirs", () => {
    const screens = SCREENSHOT_SEQUENCES.map((name) => [name, distinct(session(name))])
    expect(Object.fromEntries(screens)).toEqual({
      LibreOffice: 27,
      "VS Code": 25,
      Booking: 30,
      GitHub: 13,
      "Windows settings": 12,
      Flights: 11
    })
    for (const name of SCREENSHOT_SEQUENCES) expect(session(name).name).toBe(name)
  })

  it("are about what they are named after", () => {
    const task = (name: string) =>
      JSON.stringify(
        blocksOf(session(name).messages[0] as Message).filter(({ type }) => type === "text")
      )
    expect(task("LibreOffice")).toContain("scatter chart")
    expect(task("VS Code")).toContain("FastAPI")
    expect(task("Booking")).toContain("Booking App")
    expect(task("GitHub")).toContain("Sign up for Github")
    expect(task("Windows settings")).toContain("display settings")
    expect(task("Flights")).toContain("google.com/travel/flights")
  })
})
