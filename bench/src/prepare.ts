/**
 * What `prepare` costs at 100 to 100 000 messages: the first call, the same call again, a request under budget
 * and the part of it that is new (a call and its result, read and counted), a request that commits a batch, the
 * memory allocated and retained; how the steady request grows; and whole sessions with one call a message.
 * Medians; quote them with the machine's load in mind.
 *
 * `node --conditions=@varve/source --expose-gc src/prepare.ts [SIZES]`, SIZES as in `100,1000`.
 */
import { Commit, createMemory, defaultProfile, estimateCounter, hardLimit } from "@varve/core"
import { Transcript } from "@varve/core/Transcript"
import { screenshots } from "@varve/strategy-screenshot-prune"

interface Message {
  readonly role: string
  readonly [field: string]: unknown
}

/** 50 screenshots of 100 KB, shared by all messages, so that the history itself is small. */
const pictures = Array.from({ length: 50 }, (_, i) =>
  Buffer.from(
    `iVBORw0KGgoAAAANSUhEUgAABQAAAALQCAIAAABAH0oB${String(i).padStart(8, "0")}${"A".repeat(100_000)}${i}`
  ).toString()
)

/** A GUI agent's run: calls and results, every second result with a screenshot. */
const run = (length: number): ReadonlyArray<Message> => {
  const messages: Array<Message> = [
    { role: "user", content: "Go through every order and correct what is wrong.", timestamp: 1 }
  ]
  for (let i = 0; messages.length < length; i++) {
    const id = `call-${i}`
    messages.push({
      role: "assistant",
      content: [
        { type: "text", text: `Order ${i} looks right. I open the next one.` },
        { type: "toolCall", id, name: "click", arguments: { x: i % 1280, y: (7 * i) % 720 } }
      ],
      stopReason: "toolUse",
      timestamp: i
    })
    messages.push({
      role: "toolResult",
      toolCallId: id,
      toolName: "click",
      isError: false,
      content: [
        {
          type: "text",
          text: `Clicked. The page shows order ${i}, its address and its ${i % 7} items.`
        },
        ...(i % 2 === 0 ? [{ type: "image", data: pictures[i % 50]!, mimeType: "image/png" }] : [])
      ],
      timestamp: i
    })
  }
  return messages
}

const median = (values: ReadonlyArray<number>): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN

const heap = (): number => process.memoryUsage().heapUsed

const collect = (): number => {
  globalThis.gc?.()
  return heap()
}

const REQUESTS = 200

const memoryOf = () =>
  createMemory({
    pipeline: [screenshots({ keep: 3 }), hardLimit()],
    profile: { ...defaultProfile, contextWindow: 2_000_000_000 },
    commit: Commit.batched({ size: 10 })
  })

const timed = async <A>(act: () => A | Promise<A>): Promise<readonly [number, A]> => {
  const from = performance.now()
  const out = await act()
  return [performance.now() - from, out]
}

/** Prints a line of figures; gives the ms of a steady request. */
const measure = async (size: number): Promise<number> => {
  // Odd: a request ends with a result, not with a call that waits for one.
  const start = size | 1
  const all = run(start + 4 * REQUESTS + 2)
  const before = collect()
  const memory = memoryOf()
  const [first] = await timed(() => memory.prepare(all.slice(0, start)))
  const retained = (collect() - before) / size
  const fresh = new Transcript(estimateCounter())
  const [steady, committing, again, reading, allocated] = [[], [], [], [], []] as Array<
    Array<number>
  >
  for (let i = 1; i <= 2 * REQUESTS; i++) {
    const history = all.slice(0, start + 2 * i)
    if (i > REQUESTS) {
      const used = heap()
      const { report } = await memory.prepare(history)
      // Where it is less, garbage was collected meanwhile.
      if (report.commit.committed === 0 && heap() > used) allocated!.push(heap() - used)
      continue
    }
    const [took, { report }] = await timed(() => memory.prepare(history))
    ;(report.commit.committed > 0 ? committing : steady)!.push(took)
    again!.push((await timed(() => memory.prepare(history)))[0])
    const tail = all.slice(start, start + 2 * i)
    reading!.push((await timed(() => fresh.update(tail)))[0])
  }
  await memory.close()
  const cells = [first, ...[again, steady, reading, committing].map((ms) => median(ms!))]
  const [kb, bytes] = [Math.round(median(allocated!) / 1024), Math.round(retained)]
  console.log(
    [
      String(size).padStart(8),
      ...cells.map((ms) => ms.toFixed(3).padStart(9)),
      `${kb} KB`.padStart(9),
      `${bytes} B`.padStart(8)
    ].join(" ")
  )
  return median(steady!)
}

/** Sessions from their first message on, one call a message: the first one, and the median of all. */
const session = async (length: number): Promise<void> => {
  const all: Array<number> = []
  for (let n = 0; n < 9; n++) {
    const messages = run(length)
    const memory = memoryOf()
    const [took] = await timed(async () => {
      for (let i = 1; i <= length; i++) await memory.prepare(messages.slice(0, i))
    })
    await memory.close()
    all.push(took)
  }
  console.log(
    `whole session of ${length}: ${median(all).toFixed(0)} ms, the first one ${all[0]!.toFixed(0)}`
  )
}

const sizes = (process.argv[2] ?? "100,1000,10000,100000").split(",").map(Number)
console.log("messages first ms  again ms steady ms  of it new commit ms allocated retained/message")
// Once unmeasured, so that what is compiled once doesn't count for the first size.
await measure(Math.min(...sizes))
console.log("--- measured")
const steady: Array<number> = []
for (const size of sizes) steady.push(await measure(size))
const growth = Math.log(steady.at(-1)! / steady[0]!) / Math.log(sizes.at(-1)! / sizes[0]!)
console.log(
  `exponent of a steady request from ${sizes[0]} to ${sizes.at(-1)} messages: ${growth.toFixed(2)}`
)
for (const length of [1000, 10_000]) await session(length)
