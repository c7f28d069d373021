import * as Commit from "@varve/core/Commit"
import { createMemory } from "@varve/core/createMemory"
import * as Edit from "@varve/core/Edit"
import { hardLimit } from "@varve/core/HardLimit"
import type { PipelineInput } from "@varve/core/Pipeline"
import * as Pipeline from "@varve/core/Pipeline"
import type { Strategy } from "@varve/core/Strategy"
import { make, strategy } from "@varve/core/Strategy"
import { ConfigError } from "@varve/core/VarveError"
import type { View } from "@varve/core/View"
import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"
import { session } from "./fixtures/history.ts"

const none = (name: string): Strategy => strategy(name, () => [])
const issues = (input: unknown, path?: string) => {
  try {
    Pipeline.flatten(input as PipelineInput, path)
  } catch (error) {
    if (error instanceof ConfigError) return error.issues
    throw error
  }
  return []
}

describe("a pipeline", () => {
  it("is a list, however nested, without what is falsy", () => {
    const all = Pipeline.flatten([
      [none("a"), [none("b"), [], false]],
      null,
      undefined,
      0,
      "",
      none("c"),
      [[[none("d")]]]
    ])
    expect(all.map((s) => s.name)).toEqual(["a", "b", "c", "d"])
    expect(Pipeline.flatten([])).toEqual([])
  })

  it("refuses two strategies of one name, and says where both stand", () => {
    const [issue] = issues([none("a"), [none("b"), none("a")]])
    expect(issue).toEqual({
      path: "pipeline[1][1]",
      given: 'a second strategy named "a" (the first is pipeline[0])',
      allowed: "one of each name"
    })
    expect(() => createMemory({ pipeline: [hardLimit(), hardLimit()] })).toThrow(ConfigError)
    expect(() => Pipeline.pipeline("p", none("a"), [none("a")])).toThrow("p[1][0]")
  })

  it("refuses what is no strategy, all of it at once", () => {
    expect(
      issues([none, { name: "x" }, { name: 1, start: Effect.void }, true, "hardLimit"]).map(
        (i) => `${i.path} ${i.given}`
      )
    ).toEqual([
      "pipeline[0] a function",
      "pipeline[1] an object with name",
      "pipeline[2] an object with name, start",
      "pipeline[3] true",
      'pipeline[4] "hardLimit"'
    ])
    for (const wrong of [null, undefined, {}, "x", none("a")])
      expect(issues(wrong)).toMatchObject([
        {
          path: "pipeline",
          allowed: expect.stringMatching(/^a list of strategies; spread a preset/)
        }
      ])
  })

  it("lets each strategy see what those before it did", async () => {
    const seen: Array<number> = []
    const dropFirst = (name: string) =>
      strategy(name, (view) => {
        seen.push(view.results.length)
        const [first] = view.results
        return first === undefined ? [] : [Edit.replace(first.block, "[dropped]")]
      })
    const memory = createMemory({
      pipeline: ["a", "b", "c"].map(dropFirst),
      commit: Commit.immediate
    })
    const { messages, report } = await memory.prepare(session(5))
    expect(seen).toEqual([5, 4, 3])
    expect(JSON.stringify(messages).split("[dropped]").length - 1).toBe(3)
    expect(report.strategies.map((s) => s.accepted)).toEqual([1, 1, 1])
  })

  it("is a strategy itself, with one line in the report", async () => {
    const views: Array<View> = []
    const inner = Pipeline.pipeline(
      "both",
      strategy("one", (view) => [Edit.replace(view.results[0]!.block, "[one]")]),
      [
        false,
        strategy(
          "two",
          (view) => (views.push(view), [Edit.replace(view.results[0]!.block, "[two]")])
        )
      ]
    )
    const memory = createMemory({ pipeline: [inner, none("last")], commit: Commit.immediate })
    const { messages, report } = await memory.prepare(session(5))
    expect(report.strategies.map((s) => [s.name, s.accepted])).toEqual([
      ["both", 2],
      ["last", 0]
    ])
    expect(views[0]!.results.length).toBe(4)
    expect(JSON.stringify(messages)).toMatch(/\[one\].*\[two\]/)
  })
})

describe("a strategy", () => {
  it("gives edits, proposals, or both; at once, as a promise or as an Effect", async () => {
    const edit = (view: View, i: number) => Edit.replace(view.results[i]!.block, `[${i}]`)
    const plain = strategy("plain", (view) => [edit(view, 0)])
    const mixed = strategy(
      "mixed",
      (view) => [edit(view, 0), Edit.proposal("for a reason", [edit(view, 1)])] as never
    )
    const promised = strategy("promised", (view) => Promise.resolve([edit(view, 0)]))
    const effect = strategy("effect", (view) => Effect.sync(() => [edit(view, 0)]))
    const memory = createMemory({ pipeline: [plain, mixed, promised, effect] })
    const { report } = await memory.prepare(session(8))
    expect(report.strategies.map((s) => s.reasons)).toEqual([
      { plain: 1 },
      { "for a reason": 1, mixed: 1 },
      { promised: 1 },
      { effect: 1 }
    ])
  })

  it.each(["", " ", 3, undefined])("needs a name: %j is none", (name) => {
    expect(() => strategy(name as never, () => [])).toThrow(ConfigError)
    expect(() =>
      make(
        name as never,
        Effect.succeed(() => Effect.succeed([]))
      )
    ).toThrow("strategy.name")
  })

  it("needs a function", () => {
    expect(() => strategy("x", [] as never)).toThrow("strategy(x).propose: got a list of 0")
  })

  it("is started once a memory, in a scope that ends with it", async () => {
    const log: Array<string> = []
    const counting = make(
      "counting",
      Effect.map(
        Effect.acquireRelease(
          Effect.sync(() => void log.push("start")),
          () => Effect.sync(() => void log.push("end"))
        ),
        () => () => Effect.sync(() => (log.push("propose"), []))
      )
    )
    const memory = createMemory({ pipeline: [counting] })
    await memory.prepare(session(1))
    await memory.prepare(session(2))
    await memory.close()
    expect(log).toEqual(["start", "propose", "propose", "end"])
  })
})
