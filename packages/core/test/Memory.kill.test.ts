import * as Effect from "effect/Effect"
import { spawn } from "node:child_process"
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  truncateSync
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { createMemory } from "../src/createMemory.ts"
import type { Store } from "../src/Store.ts"
import { memoryStore } from "../src/Store.ts"
import type { VarveEvent } from "../src/VarveEvent.ts"
import { bundle } from "./fixtures/bundle.ts"
import type { Ack } from "./fixtures/killSession.ts"
import {
  goOn,
  hashOf,
  LENGTH,
  messages,
  openMemory,
  stateOf,
  storeIn,
  tell
} from "./fixtures/killSession.ts"

const RUNS = 200

/** Requests of one run at most. */
const MOST = 14

const base = mkdtempSync(join(tmpdir(), "varve-memory-kill-"))
const program = bundle("remember-forever", join(base, "program"))
afterAll(() => rmSync(base, { recursive: true }))

const random = (below: number): number => Math.floor(Math.random() * below)

/** What a process that nobody kills says, by length. */
const whole: Array<Ack> = []

beforeAll(() =>
  Effect.runPromise(
    Effect.scoped(
      Effect.flatMap(openMemory(memoryStore()), (memory) =>
        goOn(memory, 1, LENGTH, (ack) => void (whole[ack.length] = ack))
      )
    )
  )
)

/** Runs the session on from a length; kills it a moment after so many requests. Gives what it said. */
const killed = async (
  directory: string,
  from: number,
  requests: number
): Promise<ReadonlyArray<Ack>> => {
  // What a process of half a second optimizes never pays.
  const args = ["--no-opt", "--no-maglev", await program, directory, String(from)]
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, {
      stdio: ["ignore", "pipe", "inherit"],
      env: { ...process.env, NODE_COMPILE_CACHE: join(base, "compiled") }
    })
    let out = ""
    const spins = random(300_000)
    child.stdout.on("data", (chunk: Buffer) => {
      out += chunk.toString()
      if (child.killed || out.split("\n").length <= requests) return
      for (let i = 0; i < spins; i++) Math.random()
      child.kill("SIGKILL")
    })
    child.on("error", reject)
    child.on("close", (code) => {
      const lines = out.split("\n").slice(0, -1)
      if (code === null) resolve(lines.map((line) => JSON.parse(line) as Ack))
      else reject(new Error(`the fixture ended by itself with ${code}`))
    })
  })
}

const journal = (directory: string): string => join(directory, readdirSync(directory)[0]!)

/** What a new process finds, on a copy of the files: what was saved, what it says of that, and how it goes on. */
const found = (directory: string, size?: number) => {
  const copy = mkdtempSync(join(base, "copy-"))
  cpSync(directory, copy, { recursive: true })
  if (size !== undefined) truncateSync(journal(copy), size)
  const events: Array<VarveEvent> = []
  return Effect.runPromise(
    Effect.scoped(
      Effect.gen(function* () {
        const memory = yield* openMemory(storeIn(copy), (event) => events.push(event))
        yield* memory.flush
        const { edits, steps } = yield* stateOf(memory)
        // The steps tell how far the session was: each is a call and a result, behind the prompt.
        const pending = steps.at(-1)?.[1] === "pending" ? 1 : 0
        const length = 1 + 2 * steps.length - pending
        yield* tell(memory, length)
        const { messages: sent } = yield* memory.prepare(messages.slice(0, length))
        const next: Ack = { length, ...(yield* stateOf(memory)), sent: hashOf(sent) }
        const restored = events.find((e) => e.type === "restored")
        return { edits: edits.length, steps: steps.length, next, restored }
      })
    )
  )
}

/** A line of a journal, as far as it is counted here. */
interface Line {
  readonly t: string
  readonly seqs?: ReadonlyArray<number>
}

/** Where the last whole line of so many bytes ends. */
const wholeLines = (bytes: Uint8Array, size = bytes.length): number =>
  size === 0 ? 0 : bytes.lastIndexOf(10, size - 1) + 1

describe("a process that is killed", () => {
  it(
    `${RUNS} times at random moments goes on with every edit and step that it had said`,
    { timeout: 600_000 },
    async () => {
      let [done, sessions] = [0, 0]
      const session = async (): Promise<void> => {
        const directory = join(base, `session-${sessions++}`)
        mkdirSync(directory)
        for (let length = 0; length < LENGTH && done < RUNS;) {
          done++
          const requests = 1 + random(Math.min(MOST, LENGTH - length))
          const acks = await killed(directory, length + 1, requests)
          expect(acks.length).toBeGreaterThanOrEqual(requests)
          for (const ack of acks) expect(ack).toEqual(whole[ack.length])
          length = acks.at(-1)!.length
          const { next, restored, ...counts } = await found(directory)
          // What was said is there; where more is, the process was in its next request.
          expect(next.length - length).toBeOneOf([0, 1])
          expect(next).toEqual(whole[next.length])
          // Killed before anything had to be saved: the first request alone makes no edit and no step.
          if (readdirSync(directory).length === 0) {
            expect([counts, restored]).toEqual([{ edits: 0, steps: 0 }, undefined])
            continue
          }
          const bytes = readFileSync(journal(directory))
          const torn = bytes.length - wholeLines(bytes)
          const cut = torn === 0 ? null : expect.stringContaining(`: cut off ${torn} bytes`)
          expect(restored).toEqual({ type: "restored", ...counts, cut })
        }
      }
      const lane = async (): Promise<void> => {
        while (done < RUNS) await session()
      }
      await Promise.all([lane(), lane()])
      expect(done).toBeGreaterThanOrEqual(RUNS)
    }
  )

  it("is told exactly what was cut off where a write was torn", async () => {
    const directory = join(base, "torn")
    await Effect.runPromise(
      Effect.scoped(
        Effect.flatMap(openMemory(storeIn(directory)), (memory) => goOn(memory, 1, 40, () => {}))
      )
    )
    const file = journal(directory)
    const bytes = readFileSync(file)
    const first = bytes.indexOf(10) + 1
    const sizes = [1, first - 1, first, bytes.length - 1, bytes.length]
    while (sizes.length < 60) sizes.push(1 + random(bytes.length))
    for (const size of sizes) {
      const end = wholeLines(bytes, size)
      const lines = bytes.subarray(0, end).toString().trim().split("\n")
      const kept = end === 0 ? [] : lines.flatMap((line) => JSON.parse(line) as Array<Line>)
      const of = (type: string): ReadonlyArray<Line> => kept.filter(({ t }) => t === type)
      const dropped = of("drop").flatMap(({ seqs }) => seqs ?? [])
      const { next, restored, ...counts } = await found(directory, size)
      expect(counts).toEqual({
        edits: of("edit").length - dropped.length,
        steps: of("begin").length
      })
      const cut =
        end === size
          ? null
          : expect.stringMatching(
              new RegExp(
                `: cut off ${size - end} bytes from byte ${end} \\(line ${end === 0 ? 1 : lines.length + 1}\\): ` +
                  "an entry that was not written to its end\\.$"
              )
            )
      expect(restored).toEqual({ type: "restored", ...counts, cut })
      expect(next).toEqual(whole[next.length])
    }
  })

  it("was not given a request before the steps that it had told were saved", async () => {
    const order: Array<string> = []
    const store = memoryStore()
    const slow: Store = {
      ...store,
      append: (key, entries) =>
        Effect.promise(() => new Promise(setImmediate)).pipe(
          Effect.andThen(store.append(key, entries)),
          Effect.tap(() => Effect.sync(() => order.push("saved")))
        )
    }
    const memory = createMemory({ pipeline: [], store: slow })
    await memory.prepare(messages.slice(0, 2))
    memory.steps.begin({ id: "call-1", goal: "look at order 1" })
    await memory.prepare(messages.slice(0, 2))
    order.push("prepared")
    await memory.close()
    // What is saved last says when the last request was made.
    expect(order).toEqual(["saved", "prepared", "saved"])
  })
})
