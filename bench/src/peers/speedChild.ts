// One peer at one size, in a process of its own, so that it can be stopped and shares nothing with the others:
// `speedChild.ts FOLDER NAME SIZE`. Writes one line of JSON; FOLDER is `-` for what is in this folder.
import {
  createMemory,
  Commit,
  defaultProfile,
  hardLimit,
  type Message,
  Policy,
  Trigger
} from "@varve/core"
import { keepImages } from "@varve/simulator"
import { load, PACKAGES } from "./Catalog.ts"
import { setupOf, standIn } from "./Inputs.ts"
import type { Peer, Run } from "./Peer.ts"
import { screens } from "./Screens.ts"
import { slidingWindow } from "./Window.ts"

/** Requests of a session, as long as there is time. */
const REQUESTS = 200
/** ms for all of them. */
const TIME = 15_000
/** Sessions in one process: the first is a young process, the later half one that has run for long. */
const SESSIONS = 20
/** ms of the process after which none is begun any more. */
const START_BEFORE = 10_000

/** `prepare` of a memory with batches of 10 images, as a peer: from its first request on, or from a mark on. */
const varve = (name: string, isMarked: boolean): Peer<Message> => ({
  name,
  keeps: "results",
  hook: "memory.prepare(history)",
  settings: "",
  start: ({ at }) => {
    const images = keepImages(3)
    const memory = createMemory({
      pipeline: [isMarked ? Policy.when(Trigger.tokens(at), images) : images, hardLimit()],
      profile: { ...defaultProfile, contextWindow: 2_000_000_000 },
      commit: Commit.batched({ size: 10 })
    })
    const all: Array<Message> = []
    return {
      read: (fresh) => fresh,
      write: (sent) => sent,
      request: async (fresh) => {
        all.push(...fresh)
        return (await memory.prepare(all)).messages
      }
    }
  }
})

const [folder = "-", name = "", length = "100"] = process.argv.slice(2)
const size = Number(length)
const own = [varve("Varve", false), varve("Varve, from a mark on", true), slidingWindow]
const found =
  folder === "-"
    ? (own as ReadonlyArray<Peer>)
    : await load(PACKAGES.find((p) => p.folder === folder) ?? PACKAGES[0]!)
const peer = found.find((p) => p.name === name)
if (peer === undefined) throw new Error(`no peer ${name} in ${folder}`)

/** The history is there, then come requests: the times of the first, of those with nothing to do, and of the others. */
const session = async (): Promise<{
  first: number
  idle: Array<number>
  acting: Array<number>
}> => {
  // Made anew, so that nobody knows an object from the session before.
  const input = screens(Math.ceil(size / 2) + REQUESTS + 1, 100_000, 60)
  const all = input.trace.requests.at(-1)!.history
  const { summarize } = standIn(input.counter)
  const tokens = all
    .slice(1, size + 2 * REQUESTS)
    .reduce((sum, message) => sum + input.counter.message(message), 0)
  // Peers with a mark reach it with the last request that is measured: before, they have nothing to do. Those
  // whose host keeps the task don't count it.
  const setup = { ...setupOf({ ...input, at: 0 }, summarize), at: tokens }
  const run: Run<unknown> = peer.start(setup)
  let before: ReadonlyArray<unknown> = []
  /** One request: its time, and whether it is more than what was sent before with what is new. */
  const request = async (fresh: ReadonlyArray<unknown>, counted: number) => {
    const from = performance.now()
    const sent = await run.request(fresh, counted)
    const ms = performance.now() - from
    const whole = [...before, ...fresh]
    const isIdle = sent.length === whole.length && whole.every((message, i) => message === sent[i])
    // A copy: some give the list that they go on with.
    before = sent.slice()
    return { ms, isIdle }
  }
  const first = await request(run.read(all.slice(0, size)), 0)
  const [idle, acting] = [[] as Array<number>, [] as Array<number>]
  let spent = 0
  for (let i = 0; i < REQUESTS && spent < TIME; i++) {
    const fresh = run.read(all.slice(size + 2 * i, size + 2 * i + 2))
    const { isIdle, ms } = await request(fresh, i === REQUESTS - 1 ? setup.at + 1 : 0)
    spent += ms
    ;(isIdle ? idle : acting).push(ms)
  }
  // Where all that there was to do was done with the first request, that is the figure.
  if (acting.length === 0 && !first.isIdle) acting.push(first.ms)
  return { first: first.ms, idle, acting }
}

const median = (values: ReadonlyArray<number>): number | null =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? null

const sessions = [await session()]
while (sessions.length < SESSIONS && performance.now() < START_BEFORE)
  sessions.push(await session())
// The later half, where there is more than one: what a process that has run for long takes.
const later = sessions.slice(sessions.length >> 1)
const of = (some: typeof sessions) => ({
  idle: median(some.flatMap(({ idle }) => idle)),
  acting: median(some.flatMap(({ acting }) => acting))
})
console.log(
  JSON.stringify({ first: sessions[0]!.first, young: of(sessions.slice(0, 1)), warm: of(later) })
)
process.exit(0)
