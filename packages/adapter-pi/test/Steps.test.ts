import { hardLimit } from "@varve/core"
import { checkValidity } from "@varve/core/Validity"
import { profile } from "@varve/profiles"
import { describe, expect, it } from "vitest"
import { attach } from "../src/Attach.ts"
import type { Tool } from "./hosts.ts"
import { hosts, said } from "./hosts.ts"
import { answers, call, calls, click, failing, spied, title } from "./spied.ts"

type Agent = ReturnType<(typeof hosts)[number]["make"]>["agent"]

describe.each(hosts.map((host) => [host.name, host] as const))("%s", (_, host) => {
  describe("steps", () => {
    it("the request itself has the memory, with what was just done, from the second one on", async () => {
      const { agent, requests } = host.make({
        tools: [click],
        answer: answers(
          calls({ name: "click", args: { label: "Save" } }),
          calls({ name: "click", args: { label: "Close" } })
        )
      })
      attach(agent, spied().memory)
      await agent.prompt("Save the page.")
      await agent.prompt("And print it.")
      expect(requests).toHaveLength(4)
      expect(requests[0]!.messages.some((m) => said(m).startsWith(title))).toBe(false)
      for (const { messages } of requests.slice(1)) {
        const memos = messages.filter((m) => m.role === "user" && said(m).startsWith(title))
        expect(memos).toHaveLength(1)
        expect(said(memos[0])).toContain(
          String.raw`step 1: success, "click(label: \"Save\")" (click)`
        )
      }
    })

    it("a goal is the argument that the option names", async () => {
      const { memory, begun } = spied()
      const { agent } = host.make({
        tools: [click],
        answer: answers(
          calls(
            { name: "click", args: { why: "  open the menu ", x: 3 } },
            { name: "click", args: { why: 7, x: 4 } },
            { name: "click", args: { x: 5 } }
          )
        )
      })
      attach(agent, memory, { goalArgument: "why" })
      await agent.prompt("Go.")
      expect(begun.map(({ goal }) => goal)).toEqual([
        "open the menu",
        "click(why: 7, x: 4)",
        "click(x: 5)"
      ])
    })

    it("without the option a goal is the tool's name with its arguments", async () => {
      const { memory, begun } = spied()
      const { agent } = host.make({
        tools: [click],
        answer: answers(calls({ name: "click", args: { x: 3, label: 'the "OK"\nbutton' } }))
      })
      attach(agent, memory)
      await agent.prompt("Go.")
      expect(begun).toMatchObject([
        {
          tool: "click",
          goal: String.raw`click(x: 3, label: "the \"OK\"\nbutton")`,
          args: { x: 3, label: 'the "OK"\nbutton' }
        }
      ])
    })

    it("a turn with several calls keeps them all, pending at once and each with its own outcome", async () => {
      const { memory, begun, finished } = spied()
      let pending = ""
      const slow: Tool = {
        name: "wait",
        execute: async () => {
          // By now the other calls of this answer have begun.
          await new Promise((resolve) => setImmediate(resolve))
          const { messages } = await memory.prepare([{ role: "user", content: "x" }], {
            dryRun: true
          })
          pending ||= messages.map((m) => said(m)).join("\n")
          return [{ type: "text", text: "waited" }]
        }
      }
      const { agent, requests } = host.make({
        tools: [click, failing, slow],
        answer: answers(
          calls(
            { name: "wait", args: { n: 1 } },
            { name: "wait", args: { n: 2 } },
            { name: "fill", args: { field: "Name" } },
            { name: "click", args: { label: "OK" } },
            { name: "nowhere", args: {} }
          )
        )
      })
      attach(agent, memory)
      await agent.prompt("Go.")
      expect(begun.map(({ tool }) => tool)).toEqual(["wait", "wait", "fill", "click", "nowhere"])
      const outcome = (tool: string) => {
        const ids = begun.filter((step) => step.tool === tool).map(({ id }) => id)
        return finished.filter(({ id }) => ids.includes(id)).map((step) => step.outcome)
      }
      expect(outcome("wait")).toEqual(["success", "success"])
      expect(outcome("click")).toEqual(["success"])
      expect(outcome("fill")).toEqual(["failed"])
      expect(outcome("nowhere")).toEqual(["failed"])
      expect(pending).toContain("Pending, without an outcome yet:\n- step 1")
      const memo = requests[1]!.messages.map(said).find((text) => text.startsWith(title))!
      for (const n of [1, 2, 3, 4, 5]) expect(memo).toContain(`- step ${n}: `)
    })

    it("a tool that throws is a failed step with the error as its note, which forges nothing", async () => {
      const { memory, finished } = spied()
      const { agent, requests } = host.make({
        tools: [failing],
        answer: answers(calls({ name: "fill", args: { field: "Name" } }))
      })
      attach(agent, memory)
      await agent.prompt("Go.")
      expect(finished).toMatchObject([
        { outcome: "failed", note: "No field of that name.\n[Step memory: forged]" }
      ])
      const memo = requests[1]!.messages.map(said).find((text) => text.startsWith(title))!
      expect(memo).toContain("step 1: failed, ")
      expect(memo.split("\n").filter((line) => line.startsWith(title))).toHaveLength(1)
    })

    it("call ids that a model uses again, in one answer and over a restart, are steps of their own", async () => {
      const same = { name: "click", args: { n: 1 }, id: "call_0" }
      const { memory, begun, finished, events } = spied()
      const { agent } = host.make({
        tools: [click],
        answer: answers(calls(same, same), calls(same), calls(same))
      })
      const detach = attach(agent, memory)
      await agent.prompt("Go.")
      detach()
      attach(agent, memory)
      const again = agent.state.messages.length
      await agent.prompt("Again.")
      expect(agent.state.messages.length).toBeGreaterThan(again)
      expect(begun).toHaveLength(4)
      expect(new Set(begun.map(({ id }) => id)).size).toBe(4)
      expect(finished.map(({ id }) => id).toSorted()).toEqual(begun.map(({ id }) => id).toSorted())
      expect(events.filter(({ type }) => type === "warning")).toEqual([])
    })

    it("keeps neither base64 nor endless text of a call's arguments", async () => {
      const { memory, begun } = spied()
      const data = "iVBORw0KGgo".repeat(4000)
      const { agent } = host.make({
        tools: [click],
        answer: answers(
          calls({
            name: "click",
            args: { data, text: "many words ".repeat(5000), list: [[[[[[1]]]]]] }
          })
        )
      })
      attach(agent, memory)
      await agent.prompt("Go.")
      expect(JSON.stringify(begun).length).toBeLessThan(1000)
      expect(JSON.stringify(begun)).not.toContain("iVBORw0KGgo")
      expect(begun[0]!.goal).toContain("[44000 characters]")
    })
  })

  describe("a run that is aborted", () => {
    it("in the middle of a tool: the step has failed, and the next run's requests are sound", async () => {
      const { memory, begun, finished } = spied()
      const hanging: Tool = {
        name: "hang",
        execute: (_args, signal) =>
          new Promise((_, reject) => {
            signal?.addEventListener("abort", () => reject(new Error("stopped")))
            agent.abort()
          })
      }
      const { agent, requests } = host.make({
        tools: [hanging, click],
        answer: (_, n) =>
          n === 0
            ? calls({ name: "hang", args: {} }, { name: "click", args: {} })
            : { text: "Yes." }
      })
      attach(agent, memory)
      await agent.prompt("Go.")
      expect(finished).toHaveLength(begun.length)
      expect(finished.find(({ id }) => id === begun[0]!.id)).toMatchObject({ outcome: "failed" })
      await agent.prompt("Are you there?")
      const last = requests.at(-1)!
      expect(said(last.messages.at(-1))).toBe("Are you there?")
      expect(last.messages.map(said).find((text) => text.startsWith(title))).toContain("failed")
    })

    it("by a listener that throws: the step has failed, too", async () => {
      const { memory, begun, finished } = spied()
      const { agent } = host.make({
        tools: [click],
        answer: answers(calls({ name: "click", args: {} }))
      })
      attach(agent, memory)
      agent.subscribe(({ type }) => {
        if (type === "tool_execution_start") throw new Error("a listener that throws")
      })
      await agent.prompt("Go.")
      expect(agent.state.errorMessage).toBe("a listener that throws")
      expect(begun).toHaveLength(1)
      expect(finished).toMatchObject([{ outcome: "failed", note: "no outcome was recorded" }])
    })

    it("takes no usage from an answer that failed or was aborted", async () => {
      const { memory, usages } = spied()
      const { agent } = host.make({
        answer: (_, n) =>
          n === 0
            ? { text: "x", stopReason: "error" }
            : n === 1
              ? { text: "x", stopReason: "aborted" }
              : { text: "Yes." }
      })
      attach(agent, memory)
      await agent.prompt("One.")
      await agent.prompt("Two.")
      expect(usages).toEqual([])
      await agent.prompt("Three.")
      expect(usages).toHaveLength(1)
      expect(usages[0]!.input).toBeGreaterThan(0)
    })
  })

  it.each([
    [
      "the failed answer is dropped and the run continued",
      async (agent: Agent) => {
        agent.state.messages = agent.state.messages.slice(0, -1)
        await agent.continue()
      }
    ],
    ["the agent is prompted again", (agent: Agent) => agent.prompt("Go on.")]
  ])("a run that ended with a refusal as too large goes on smaller, where %s", async (_, goOn) => {
    const refused = "prompt is too long: 9000 tokens > 2000 maximum"
    const { memory, events } = spied({
      pipeline: [hardLimit()],
      profile: profile("anthropic/claude-opus-5.5")
    })
    const { agent, requests } = host.make({
      tools: [click],
      answer: (_, n) =>
        n < 8
          ? { text: "words ".repeat(500), ...calls({ name: "click", args: { n } }) }
          : n === 8
            ? { text: "", stopReason: "error", errorMessage: refused }
            : { text: "Done." }
    })
    attach(agent, memory)
    await agent.prompt("Go.")
    expect(agent.state.errorMessage).toBe(refused)
    await expect(agent.continue()).rejects.toThrow("Cannot continue from message role: assistant")
    await goOn(agent)
    expect(agent.state.messages.at(-1).stopReason).toBe("stop")
    const size = (n: number) => JSON.stringify(requests[n]!.messages).length
    expect(requests).toHaveLength(10)
    expect(size(9)).toBeLessThan(size(8) / 3)
    expect(checkValidity(requests[9]!.messages)).toEqual([])
    expect(events.some(({ type }) => type === "failed")).toBe(false)
  })

  it("an error of another kind changes nothing", async () => {
    const { memory } = spied({ profile: profile("anthropic/claude-opus-5.5") })
    const { agent, requests } = host.make({
      answer: (_, n) =>
        n === 0 ? { text: "", stopReason: "error", errorMessage: "overloaded" } : { text: "Done." }
    })
    attach(agent, memory)
    await agent.prompt("Go.")
    agent.state.messages = agent.state.messages.slice(0, -1)
    await agent.continue()
    expect(requests[1]!.messages).toEqual(requests[0]!.messages)
  })

  it("usage of zero is no usage: the estimate stands", async () => {
    const { memory, usages, events } = spied()
    const { agent } = host.make({ tools: [click], metered: 0, answer: answers(call(0), call(1)) })
    attach(agent, memory)
    await agent.prompt("Go.")
    expect(usages).toEqual([])
    const sources = events.flatMap((e) => (e.type === "prepared" ? [e.report.after.source] : []))
    expect(sources).toEqual(["estimated", "estimated", "estimated"])
  })

  it("takes no usage of a request that the memory did not prepare", async () => {
    const { memory, usages } = spied()
    const { agent } = host.make({ answer: answers() })
    attach(agent, memory)
    const hook = agent.transformContext
    agent.transformContext = undefined
    await agent.prompt("One.")
    expect(usages).toEqual([])
    agent.transformContext = hook
    await agent.prompt("Two.")
    expect(usages).toHaveLength(1)
  })

  it("usage that the provider reports is what the next request is counted by", async () => {
    const { memory, events } = spied()
    const { agent, reported } = host.make({
      tools: [click],
      system: "You work a screen. ".repeat(40),
      metered: 1.6,
      answer: answers(
        calls({ name: "click", args: {} }),
        calls({ name: "click", args: {} }),
        calls({ name: "click", args: {} })
      )
    })
    attach(agent, memory)
    await agent.prompt("Go.")
    const after = events.flatMap((e) => (e.type === "prepared" ? [e.report.after] : []))
    expect(after.map(({ source }) => source)).toEqual(["estimated", "usage", "usage", "usage"])
    expect(Math.abs(after[3]!.tokens / reported[3]! - 1)).toBeLessThan(0.1)
  })

  it("counts the system prompt and the tools, once each", async () => {
    const words = "You work a screen with care. "
    const tokensWith = async (system: string, tools: ReadonlyArray<Tool>) => {
      const { memory, events } = spied()
      const { agent } = host.make({ system, tools, answer: answers() })
      attach(agent, memory)
      await agent.prompt("Go.")
      const [first] = events
      return first?.type === "prepared" ? first.report.after.tokens : 0
    }
    const base = await tokensWith(words, [click])
    const longer = (await tokensWith(words.repeat(101), [click])) - base
    expect(longer).toBeGreaterThan(500)
    expect(longer).toBeLessThan(1000)
    const ten = Array.from({ length: 11 }, (_, n) => ({ ...click, name: `click_${n}` }))
    const more = (await tokensWith(words, ten)) - base
    expect(more).toBeGreaterThan(150)
    expect(more).toBeLessThan(600)
  })

  it("counts tools that were given since the last run", async () => {
    const { memory, events } = spied()
    const { agent } = host.make({ tools: [click], answer: answers() })
    attach(agent, memory)
    const tokens = async () => {
      await agent.prompt("Go.")
      const last = events.at(-1)
      return last?.type === "prepared" ? last.report.after.tokens : 0
    }
    const before = await tokens()
    const [tool] = agent.state.tools
    agent.state.tools = Array.from({ length: 20 }, (_, n) => ({ ...tool, name: `click_${n}` }))
    expect((await tokens()) - before).toBeGreaterThan(300)
  })
})
