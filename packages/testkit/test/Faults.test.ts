import { createMemory, Edit, hardLimit, memoryStore, strategy } from "@varve/core"
import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"
import type { FaultKind } from "../src/Faults.ts"
import { faultKinds, faulty, faultyStore } from "../src/Faults.ts"

const history = [
  { role: "user", content: "go" },
  { role: "assistant", content: [{ type: "toolCall", id: "c", name: "look", arguments: {} }] },
  {
    role: "toolResult",
    toolCallId: "c",
    toolName: "look",
    content: "word ".repeat(200),
    isError: false
  },
  ...["one", "two", "three"].flatMap((content) => [
    { role: "assistant", content },
    { role: "user", content }
  ])
]

const cutting = strategy("cutting", (view) =>
  view.results.map((r) => Edit.replace(r.block, "[cut]"))
)

const report = async (script: ReadonlyArray<FaultKind | undefined>) => {
  const memory = createMemory({
    pipeline: [faulty(cutting, script), hardLimit()],
    strategyTimeout: 50
  })
  const { report } = await memory.prepare(history)
  await memory.close()
  return report.strategies[0]!
}

describe("faulty", () => {
  it("goes wrong as the script says", async () => {
    expect((await report(["throw"])).error).toBe("Error: injected by the testkit")
    expect((await report(["fail"])).error).toBe("Error: injected by the testkit")
    expect((await report(["hang"])).error).toContain("took longer than 50 ms")
    const odd = await report(["garbage"])
    expect(odd.accepted).toBe(0)
    expect(odd.error).toContain("have no list of edits")
  })

  it("works where the script is silent, and where it is slow", async () => {
    expect(await report([undefined])).toMatchObject({ accepted: 1 })
    expect(await report(["slow"])).toMatchObject({ accepted: 1 })
    expect(await report([])).toMatchObject({ accepted: 1 })
  })

  it("starts anew for each memory", async () => {
    const one = faulty(cutting, ["throw"])
    for (let i = 0; i < 2; i++) {
      const memory = createMemory({ pipeline: [one, hardLimit()] })
      const { report } = await memory.prepare(history)
      expect(report.strategies[0]?.error).toBeDefined()
    }
  })

  it("never stops a run, whatever the kind", async () => {
    for (const kind of faultKinds) expect((await report([kind, kind])).name).toBe("cutting")
  })
})

describe("faultyStore", () => {
  it("refuses by the script, and keeps nothing of what it refused", async () => {
    const store = faultyStore(memoryStore(), ["fail", undefined, "throw"])
    const append = (n: number) => Effect.runPromiseExit(store.append("a/s", [{ n }]))
    expect((await append(1))._tag).toBe("Failure")
    expect((await append(2))._tag).toBe("Success")
    expect((await append(3))._tag).toBe("Failure")
    const { entries } = await Effect.runPromise(store.load("a/s"))
    expect(entries).toEqual([{ n: 2 }])
  })

  it("a memory keeps what the store refused, and writes it later", async () => {
    const store = memoryStore()
    const warnings: Array<string> = []
    const memory = createMemory({
      pipeline: [cutting, hardLimit()],
      store: faultyStore(store, ["fail"]),
      onEvent: (e) => void (e.type === "warning" && warnings.push(e.message))
    })
    await memory.prepare(history)
    expect(warnings).toHaveLength(1)
    await memory.close()
    const { entries } = await Effect.runPromise(store.load("agent/session"))
    expect(entries.some((e) => (e as { t: string }).t === "edit")).toBe(true)
  })
})
