import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { requireData } from "../src/Data.ts"
import { read } from "../src/Detect.ts"
import { SessionFileError } from "../src/SessionFileError.ts"
import { sessions } from "../src/Sessions.ts"
import { inFolder, PNG, SAMPLES, write } from "./samples.ts"

describe("Detect", () => {
  it.each(SAMPLES)("reads a log of $format as its own reader does", (sample) => {
    inFolder((folder) => {
      const path = write(folder, sample)
      expect(read(path)).toEqual(sample.read(path))
    })
  })

  it("reads a folder of screens", () => {
    inFolder((folder) => {
      for (const name of ["1.png", "2.png"])
        writeFileSync(join(folder, name), Buffer.from(PNG, "base64"))
      expect(read(folder).requests.length).toBeGreaterThan(0)
    })
  })

  it("passes over lines that say nothing about the format", () => {
    inFolder((folder) => {
      const path = join(folder, "log")
      const first = ['{"type":"summary","summary":"s"}', "", '{"type":"queue-operation"}']
      const user = { type: "user", timestamp: "2026-01-02T03:04:05Z", message: { content: "go" } }
      writeFileSync(path, [...first, JSON.stringify(user)].join("\n"))
      expect(read(path)).toMatchObject({ messages: [{ role: "user", content: "go" }] })
    })
  })

  it.each([
    ["", undefined, "is empty"],
    ["\n \n", undefined, "is empty"],
    ["Dear diary,\n", 1, "not JSON"],
    ['{\n"messages": 1\n"a": 2}', 3, "not JSON"],
    ['{"type":"user"', 1, "not JSON"],
    ['{"type":"summary"}\n{"type":', 2, "not JSON"],
    ["{}", undefined, "no log that a reader knows"],
    ["[]", undefined, "no log that a reader knows"],
    ["3", undefined, "no log that a reader knows"],
    ['{"a":1}\n[2]\nnull', undefined, "no log that a reader knows"]
  ])("says of %j what is wrong, and where", (text, line, reason) => {
    inFolder((folder) => {
      const path = join(folder, "log")
      writeFileSync(path, text)
      try {
        read(path)
        expect.unreachable()
      } catch (error) {
        expect(error).toBeInstanceOf(SessionFileError)
        expect(error).toMatchObject({ file: path, line })
        expect((error as Error).message).toContain(reason)
      }
    })
  })

  it("says of a folder or a file that isn't there what is wrong", () => {
    inFolder((folder) => {
      mkdirSync(join(folder, "empty"))
      expect(() => read(join(folder, "empty"))).toThrow("no log that a reader knows")
      expect(() => read(join(folder, "gone"))).toThrow("can't be read")
    })
  })

  it.runIf(requireData("Detect"))("knows every real session by its content", () => {
    for (const { name, path, read: own } of sessions()) {
      // Of a file with several runs the first is read.
      if (/ponyc-(?:4593|4588)/.test(name)) continue
      const { messages, requests } = read(path)
      const known = own()
      expect([name, messages.length, requests]).toEqual([
        name,
        known.messages.length,
        known.requests
      ])
    }
  })
})
