import { hardLimit, type Message } from "@varve/core"
import { imageOf, visitBlocks } from "@varve/core/Message"
import * as ImageSize from "@varve/core/ImageSize"
import { checkValidity } from "@varve/core/Validity"
import { profile } from "@varve/profiles"
import { keepImages, memoryPolicy } from "@varve/simulator"
import { coding, real, type Input } from "./Inputs.ts"
import type { Peer } from "./Peer.ts"
import { record, type Recorded } from "./Replay.ts"
import { screens } from "./Screens.ts"
import { slidingWindow } from "./Window.ts"

/** Requests that a provider would refuse, by why. */
interface FaultRow {
  readonly name: string
  readonly requests: number
  /** The peer threw. */
  readonly failed: number
  /** Invalid, where the host's own history was not. */
  readonly invalid: number
  /** More images than a request may have. */
  readonly images: number
  /** More than 20 images, one of them with an edge of more than 2 000 px. */
  readonly edges: number
  readonly bytes: number
}

export interface FaultTable {
  readonly input: string
  readonly rows: ReadonlyArray<FaultRow>
}

const MODEL = "claude-haiku-4.5"

interface Weight {
  readonly images: number
  readonly edge: number
  readonly bytes: number
}

const weights = new WeakMap<Message, Weight>()
const sizes = new Map<string, number>()

const edgeOf = (data: string): number => {
  // Long strings make poor keys, and the head says all.
  const key = data.slice(0, 64)
  let edge = sizes.get(key)
  if (edge === undefined) {
    const size = ImageSize.read(data)
    sizes.set(key, (edge = size === undefined ? 0 : Math.max(size.width, size.height)))
  }
  return edge
}

const weightOf = (message: Message): Weight => {
  const known = weights.get(message)
  if (known !== undefined) return known
  let images = 0
  let edge = 0
  let bytes = 0
  visitBlocks(message, (block) => {
    const data = imageOf(block)?.data
    if (data === undefined) {
      bytes += JSON.stringify(block).length
      return
    }
    images++
    bytes += data.length
    edge = Math.max(edge, edgeOf(data))
  })
  const weight = { images, edge, bytes }
  weights.set(message, weight)
  return weight
}

const {
  images: MOST_IMAGES = Infinity,
  manyImages,
  requestBytes = Infinity
} = profile(MODEL).limits

const faultsOf = (name: string, input: Input, sent: Recorded): FaultRow => {
  const row = { failed: 0, invalid: 0, images: 0, edges: 0, bytes: 0 }
  for (const [i, { history }] of input.trace.requests.entries()) {
    const answer = sent[i]
    if (answer === undefined) {
      row.failed++
      continue
    }
    const { messages } = answer
    if (checkValidity(messages).length > 0 && checkValidity(history).length === 0) row.invalid++
    let images = 0
    let edge = 0
    let bytes = 0
    for (const message of messages) {
      const weight = weightOf(message)
      images += weight.images
      bytes += weight.bytes
      edge = Math.max(edge, weight.edge)
    }
    if (images > MOST_IMAGES) row.images++
    if (manyImages !== undefined && images > manyImages.over && edge > manyImages.maxEdge)
      row.edges++
    if (bytes > requestBytes) row.bytes++
  }
  return { name, requests: sent.length, ...row }
}

/** A memory of ours with the limits of a model. */
const varve = async (input: Input): Promise<Recorded> => {
  const policy = memoryPolicy("Varve", { pipeline: [keepImages(3), hardLimit()] })
  const running = policy.start({ profile: profile(MODEL), counter: input.counter })
  const sent: Array<Recorded[number]> = []
  for (const { history, at } of input.trace.requests)
    sent.push(await running.prepare(history, at).catch(() => undefined))
  await running.close()
  return sent
}

const add = (rows: ReadonlyArray<FaultRow>): FaultRow => {
  const sum = (f: (row: FaultRow) => number): number => rows.reduce((s, row) => s + f(row), 0)
  return {
    name: rows[0]!.name,
    requests: sum((r) => r.requests),
    failed: sum((r) => r.failed),
    invalid: sum((r) => r.invalid),
    images: sum((r) => r.images),
    edges: sum((r) => r.edges),
    bytes: sum((r) => r.bytes)
  }
}

/** What would be refused of what each sends, on the same inputs. */
export const faults = async (
  published: ReadonlyArray<Peer>,
  quick: boolean
): Promise<ReadonlyArray<FaultTable>> => {
  const peers = [slidingWindow as Peer, ...published]
  const inputs: ReadonlyArray<readonly [string, ReadonlyArray<Input>]> = [
    ["GUI, screenshots of 2560 x 1440 and 400 KB", [screens(quick ? 60 : 300, 300_000)]],
    [
      "the same, but 10 steps stay, and the mark is 80 % of the window, as many hosts have it",
      [{ ...screens(quick ? 60 : 300, 300_000), steps: 10, at: 160_000 }]
    ],
    ["coding", [coding(quick ? 30 : 100)]],
    ["real sessions", quick ? real().slice(0, 2) : real()]
  ]
  const tables: Array<FaultTable> = []
  for (const [name, list] of inputs) {
    if (list.length === 0) continue
    const rows: Array<FaultRow> = []
    const all: ReadonlyArray<readonly [string, (input: Input) => Promise<Recorded>]> = [
      [
        "nothing",
        async ({ trace }) => trace.requests.map(({ history: messages }) => ({ messages }))
      ],
      ["Varve, 3 images and hardLimit", varve],
      ...peers.map(
        (peer) => [peer.name, async (input: Input) => (await record(peer, input)).sent] as const
      )
    ]
    for (const [who, send] of all) {
      console.error(`faults: ${name}, ${who}`)
      const each: Array<FaultRow> = []
      for (const input of list) each.push(faultsOf(who, input, await send(input)))
      rows.push(add(each))
    }
    tables.push({ input: name, rows })
  }
  return tables
}
