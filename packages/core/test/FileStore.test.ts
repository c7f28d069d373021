import { fileStore } from "@varve/core/FileStore"
import type { Loaded } from "@varve/core/Store"
import { ConfigError, StoreError } from "@varve/core/VarveError"
import * as Effect from "effect/Effect"
import fc from "fast-check"
import fs from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, describe, expect, it, vi } from "vitest"

const run = Effect.runPromise
const base = fs.mkdtempSync(join(tmpdir(), "varve-file-store-"))
let count = 0
const fresh = () => join(base, String(count++))
afterAll(() => fs.rmSync(base, { recursive: true }))

const key = "agent/session"
const file = (directory: string) => join(directory, "agent%2fsession.jsonl")
const json = fc.jsonValue({ maxDepth: 2 }).map((v): unknown => JSON.parse(JSON.stringify(v)))
const batches = fc.array(fc.array(json, { minLength: 1, maxLength: 3 }), {
  minLength: 1,
  maxLength: 6
})
const load = (directory: string): Promise<Loaded> => run(fileStore(directory).load(key))
const failure = async (effect: Effect.Effect<unknown, StoreError>) => {
  const error = await run(Effect.flip(effect))
  expect(error).toBeInstanceOf(StoreError)
  return error
}

describe("fileStore", { timeout: 60_000 }, () => {
  it("has no entries, and no file, before the first append", async () => {
    const directory = fresh()
    expect(await load(directory)).toEqual({ entries: [] })
    expect(fs.existsSync(directory)).toBe(false)
  })

  it("gives back what was appended and replaced, from this store and from another", async () => {
    const operation = fc.record({
      kind: fc.constantFrom("append", "append", "replace", "load", "reopen"),
      entries: fc.array(json, { maxLength: 3 }),
      key: fc.constantFrom("a", "a/b", "A/b")
    })
    await fc.assert(
      fc.asyncProperty(fc.array(operation, { maxLength: 12 }), async (operations) => {
        const directory = fresh()
        const model = new Map<string, ReadonlyArray<unknown>>()
        let store = fileStore(directory, { sync: false })
        for (const { kind, entries, key } of operations) {
          if (kind === "reopen") store = fileStore(directory, { sync: false })
          else if (kind === "load") {
            expect(await run(store.load(key))).toEqual({ entries: model.get(key) ?? [] })
          } else {
            await run(store[kind](key, entries))
            model.set(key, kind === "replace" ? entries : [...(model.get(key) ?? []), ...entries])
          }
        }
        for (const [key, entries] of model) {
          expect(await run(fileStore(directory).load(key))).toEqual({ entries })
        }
      }),
      { numRuns: 100 }
    )
  })

  it("keeps appends in order when they are made at once", async () => {
    const directory = fresh()
    const store = fileStore(directory)
    const all = Array.from({ length: 30 }, (_, i) => i)
    await run(Effect.forEach(all, (i) => store.append(key, [i]), { concurrency: "unbounded" }))
    expect((await load(directory)).entries).toEqual(all)
  })

  it("truncated at any byte, gives the appends that are whole and says what was cut off", async () => {
    await fc.assert(
      fc.asyncProperty(batches, async (batches) => {
        const directory = fresh()
        const store = fileStore(directory, { sync: false })
        const ends = [0]
        for (const batch of batches) {
          await run(store.append(key, batch))
          ends.push(fs.statSync(file(directory)).size)
        }
        const bytes = fs.readFileSync(file(directory))
        for (let size = 0; size <= Math.min(bytes.length, 120); size++) {
          fs.writeFileSync(file(directory), bytes.subarray(0, size))
          const { entries, cut } = await load(directory)
          const whole = ends.findLastIndex((end) => end <= size)
          expect(entries).toEqual(batches.slice(0, whole).flat())
          if (size === ends[whole]) expect(cut).toBe(undefined)
          else {
            expect(cut).toContain(`cut off ${size - ends[whole]!} bytes from byte ${ends[whole]}`)
          }
        }
      }),
      { numRuns: 8 }
    )
  })

  it("cuts a torn line off before the next append, not before", async () => {
    const directory = fresh()
    await run(fileStore(directory).append(key, ["one"]))
    fs.appendFileSync(file(directory), '["two')
    const torn = fs.readFileSync(file(directory), "utf8")
    const store = fileStore(directory)
    expect((await run(store.load(key))).entries).toEqual(["one"])
    expect(fs.readFileSync(file(directory), "utf8")).toBe(torn)
    await run(store.append(key, ["three"]))
    expect(await load(directory)).toEqual({ entries: ["one", "three"] })
    // A store that never loaded the file cuts it off too.
    fs.appendFileSync(file(directory), "garbage")
    await run(fileStore(directory).append(key, ["four"]))
    expect(await load(directory)).toEqual({ entries: ["one", "three", "four"] })
  })

  it("with any one byte damaged, gives a prefix and keeps the rest beside the file, or fails", async () => {
    await fc.assert(
      fc.asyncProperty(batches, fc.nat(), fc.nat(255), async (batches, at, byte) => {
        const directory = fresh()
        const store = fileStore(directory, { sync: false })
        for (const batch of batches) await run(store.append(key, batch))
        const bytes = fs.readFileSync(file(directory))
        bytes[at % bytes.length] = byte
        fs.writeFileSync(file(directory), bytes)
        const again = fileStore(directory, { sync: false })
        const loaded = await run(Effect.result(again.load(key)))
        if (loaded._tag === "Failure") {
          expect(loaded.failure.reason).toBe("corrupt")
          expect(loaded.failure.message).toContain(file(directory))
          // Nothing is written to what can't be read.
          await failure(again.append(key, ["next"]))
          expect(fs.readFileSync(file(directory)).equals(bytes)).toBe(true)
          return
        }
        const { entries, cut } = loaded.success
        await run(again.append(key, ["next"]))
        expect(await load(directory)).toEqual({ entries: [...entries, "next"] })
        const cuts = fs.readdirSync(directory).filter((name) => name.endsWith(".cut"))
        expect(cuts.length === 0 || cut !== undefined).toBe(true)
        for (const name of cuts) {
          const kept = fs.readFileSync(join(directory, name))
          expect(kept.equals(bytes.subarray(bytes.length - kept.length))).toBe(true)
          expect(cut).toContain(name)
        }
      }),
      { numRuns: 300 }
    )
  })

  it("names a damaged line in the middle, and keeps what stood there", async () => {
    const directory = fresh()
    fs.mkdirSync(directory)
    const lines = ['["one"]\n', '["two"\0\n', '["three"]\n']
    fs.writeFileSync(file(directory), lines.join(""))
    const store = fileStore(directory)
    const { entries, cut } = await run(store.load(key))
    expect(entries).toEqual(["one"])
    expect(cut).toBe(
      `${file(directory)}: cut off 18 bytes from byte 8 (line 2): a damaged line and 10 bytes behind it, ` +
        `kept in ${file(directory)}.8.cut at the next write.`
    )
    await run(store.replace(key, ["one", "anew"]))
    expect(fs.readFileSync(`${file(directory)}.8.cut`, "utf8")).toBe(lines.slice(1).join(""))
    expect(await load(directory)).toEqual({ entries: ["one", "anew"] })
  })

  it("refuses a file that is no journal, and leaves it alone", async () => {
    const directory = fresh()
    fs.mkdirSync(directory)
    for (const text of ["hello\n", '{"a":1}\n{"b":2}\n', "\0\0\0\n"]) {
      fs.writeFileSync(file(directory), text)
      const store = fileStore(directory)
      expect((await failure(store.load(key))).reason).toBe("corrupt")
      expect((await failure(store.replace(key, [1]))).reason).toBe("corrupt")
      expect(fs.readFileSync(file(directory), "utf8")).toBe(text)
    }
  })

  it("gives distinct keys distinct files inside its directory", async () => {
    const odd = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.constantFrom(
        "",
        ".",
        "..",
        "../x",
        "/etc/passwd",
        "a\\b",
        "a/b",
        "A/b",
        "a%2fb",
        "\ud800"
      ),
      fc.string({ minLength: 140, maxLength: 400 })
    )
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(odd, { maxLength: 8 }), async (keys) => {
        const directory = fresh()
        const store = fileStore(directory, { sync: false })
        for (const key of keys) await run(store.append(key, [key]))
        for (const key of keys) {
          expect((await run(store.load(key))).entries).toEqual([key])
        }
        const names = keys.length === 0 ? [] : fs.readdirSync(directory)
        expect(new Set(names.map((name) => name.toLowerCase())).size).toBe(keys.length)
        expect(names.every((name) => name.length < 230)).toBe(true)
      }),
      { numRuns: 100 }
    )
  })

  it("notices another process that writes the same session", async () => {
    const directory = fresh()
    const one = fileStore(directory)
    const two = fileStore(directory)
    await run(one.append(key, [1]))
    await run(two.load(key))
    await run(one.append(key, [2]))
    for (const write of [two.append(key, [3]), two.replace(key, [3])]) {
      const error = await failure(write)
      expect([error.reason, error.message.includes("another process")]).toEqual(["write", true])
    }
    expect((await run(two.load(key))).entries).toEqual([1, 2])
    // The same size, but another file.
    await run(two.replace(key, [1, 2]))
    await failure(one.append(key, [4]))
    fs.rmSync(file(directory))
    await failure(two.append(key, [5]))
    expect(fs.existsSync(file(directory))).toBe(false)
  })

  it("after a write that failed half-way, goes on without the half", async () => {
    const directory = fresh()
    const store = fileStore(directory)
    await run(store.append(key, ["one"]))
    const write = fs.writeSync
    const short = vi
      .spyOn(fs, "writeSync")
      .mockImplementation(((fd: number, bytes: Buffer) => write(fd, bytes.subarray(0, 4))) as never)
    try {
      const error = await failure(store.append(key, ["two"]))
      expect([error.reason, error.key]).toEqual(["write", key])
      await failure(store.replace(key, ["three"]))
    } finally {
      short.mockRestore()
    }
    expect((await load(directory)).entries).toEqual(["one"])
    await run(store.append(key, ["four"]))
    expect(await load(directory)).toEqual({ entries: ["one", "four"] })
  })

  it("an entry that is no JSON fails typed and leaves the file alone", async () => {
    const directory = fresh()
    const store = fileStore(directory)
    await run(store.append(key, ["one"]))
    const cyclic: Array<unknown> = []
    cyclic.push(cyclic)
    for (const entry of [1n, cyclic]) {
      expect((await failure(store.append(key, [entry]))).reason).toBe("write")
    }
    await run(store.append(key, []))
    expect(await load(directory)).toEqual({ entries: ["one"] })
  })

  it("a directory that can't be made or read is a typed error", async () => {
    const path = fresh()
    fs.writeFileSync(path, "a file")
    expect((await failure(fileStore(join(path, "in")).append(key, [1]))).reason).toBe("write")
    expect((await failure(fileStore(path).load(key))).reason).toBe("read")
  })

  it("lets nobody but the owner read", async () => {
    const directory = fresh()
    const store = fileStore(directory)
    await run(store.append(key, [1]))
    expect(fs.statSync(directory).mode & 0o077).toBe(0)
    expect(fs.statSync(file(directory)).mode & 0o077).toBe(0)
    await run(store.replace(key, [1]))
    expect(fs.statSync(file(directory)).mode & 0o077).toBe(0)
  })

  it("refuses wrong options when it is made", () => {
    expect(() => fileStore("")).toThrow(ConfigError)
    expect(() => fileStore(undefined as never)).toThrow("fileStore.directory")
    expect(() => fileStore("x", { sync: 1 } as never)).toThrow("fileStore.sync: got 1")
    expect(() => fileStore("x", { snyc: true } as never)).toThrow("one of the options sync")
  })
})
