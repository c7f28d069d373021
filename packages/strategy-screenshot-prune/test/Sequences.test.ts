import { Commit, createMemory, memoryStore } from "@varve/core"
import type { Store } from "@varve/core"
import type { Message } from "@varve/core/Message"
import { checkValidity } from "@varve/core/Validity"
import { requireData } from "@varve-examples/session-readers/Data"
import { SCREENSHOT_SEQUENCES, session } from "@varve-examples/session-readers/Sessions"
import { deepFreeze } from "@varve/testkit/Freeze"
import { describe, expect, it } from "vitest"
import { screenshots } from "../src/index.ts"
import { imagesIn } from "./pictures.ts"

const BATCH = 5

const start = (store?: Store) =>
  createMemory({
    pipeline: [screenshots({ keep: 3, thumbnails: 8, duplicates: "near" })],
    commit: Commit.batched({ size: BATCH }),
    ...(store === undefined ? {} : { store })
  })

const headsOf = (name: string) => {
  const { messages, requests } = session(name)
  deepFreeze(messages)
  const at = [...new Set([...requests.map((r) => r.at), messages.length])].filter((n) => n > 0)
  return at.map((n) => messages.slice(0, n) as ReadonlyArray<Message>)
}

const run = async (heads: ReadonlyArray<ReadonlyArray<Message>>) => {
  const memory = start()
  const sent: Array<ReadonlyArray<Message>> = []
  for (const head of heads) {
    const { messages, report } = await memory.prepare<unknown>(head)
    expect(report.strategies[0]).toMatchObject({ refused: [] })
    sent.push(messages as ReadonlyArray<Message>)
    await memory.flush()
  }
  await memory.close()
  return sent
}

describe.runIf(requireData("screenshot sequences"))("real screenshot sequences", () => {
  for (const name of SCREENSHOT_SEQUENCES) {
    it(`${name}: fewer images and bytes, valid requests, one change a batch, the same twice and over restarts`, async () => {
      const heads = headsOf(name)
      const sent = await run(heads)
      const before = imagesIn(heads.at(-1)!)
      const after = imagesIn(sent.at(-1)!)
      let changes = 0
      sent.forEach((messages, i) => {
        expect(checkValidity(messages)).toEqual(checkValidity(heads[i]!))
        if (sent[i - 1]?.some((m, k) => m !== messages[k]) === true) changes++
      })
      expect(changes).toBeGreaterThan(0)
      expect(changes).toBeLessThanOrEqual(Math.ceil(before.length / BATCH))
      const bytes = (images: typeof after) => images.reduce((sum, i) => sum + i.data!.length, 0)
      expect(bytes(after)).toBeLessThan(0.8 * bytes(before))
      expect(await run(heads)).toEqual(sent)

      const store = memoryStore()
      for (const [i, head] of heads.entries()) {
        const memory = start(store)
        const { messages } = await memory.prepare<unknown>(head)
        await memory.close()
        expect(messages).toEqual(sent[i])
      }
    }, 120_000)
  }
})
