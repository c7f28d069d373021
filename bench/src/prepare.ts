/**
 * What `prepare` costs at 100 to 100 000 messages: the first call, a request under budget, a request that
 * commits a batch, and the memory retained. Medians; quote them with the machine's load in mind.
 *
 * `node --conditions=@varve/source --expose-gc src/prepare.ts [SIZES]`, SIZES as in `100,1000`.
 */
import { Commit, createMemory, defaultProfile, hardLimit } from "@varve/core"
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

const median = (values: ReadonlyArray<number>): string => {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted[sorted.length >> 1]
  return middle === undefined ? "-" : middle.toFixed(3)
}

const collect = (): number => {
  globalThis.gc?.()
  return process.memoryUsage().heapUsed
}

const REQUESTS = 200

const measure = async (size: number): Promise<void> => {
  const all = run(size + 2 * REQUESTS + 2)
  const profile = { ...defaultProfile, contextWindow: 2_000_000_000 }
  const before = collect()
  const memory = createMemory({
    pipeline: [screenshots({ keep: 3 }), hardLimit()],
    profile,
    commit: Commit.batched({ size: 10 })
  })
  const start = performance.now()
  await memory.prepare(all.slice(0, size))
  const first = performance.now() - start
  const retained = (collect() - before) / size
  const steady: Array<number> = []
  const committing: Array<number> = []
  const again: Array<number> = []
  for (let i = 1; i <= REQUESTS; i++) {
    const history = all.slice(0, size + 2 * i)
    const from = performance.now()
    const { report } = await memory.prepare(history)
    const took = performance.now() - from
    ;(report.commit.committed > 0 ? committing : steady).push(took)
    const repeat = performance.now()
    await memory.prepare(history)
    again.push(performance.now() - repeat)
  }
  await memory.close()
  console.log(
    [
      String(size).padStart(8),
      first.toFixed(1).padStart(10),
      median(again).padStart(10),
      median(steady).padStart(10),
      median(committing).padStart(11),
      `${Math.round(retained)} B`.padStart(12)
    ].join(" ")
  )
}

const sizes = (process.argv[2] ?? "100,1000,10000,100000").split(",").map(Number)
console.log("messages first [ms] again [ms] steady [ms] commit [ms] retained/message")
// Once unmeasured, so that what is compiled once doesn't count for the first size.
await measure(Math.min(...sizes))
console.log("--- measured")
for (const size of sizes) await measure(size)
