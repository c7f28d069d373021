import { describe, expect, it } from "vitest"
import { readJson } from "./samples.ts"

describe("Midscene", () => {
  const task = (type: string, subType: string, start: number, more: object = {}) => ({
    type,
    subType,
    status: "finished",
    param: {},
    timing: { start, end: start + 1 },
    ...more
  })
  const shot = (data: string) => ({ screenshot: `data:image/png;base64,${data}` })
  const usage = { prompt_tokens: 1, completion_tokens: 1 }
  const plan = (start: number, log: string, data: string, sleep?: number) =>
    task("Planning", "Plan", start, {
      usage,
      output: { log, yamlFlow: sleep === undefined ? [] : [{ sleep }] },
      recorder: [shot(data)]
    })
  const read = (tasks: ReadonlyArray<unknown>) =>
    readJson("Midscene", { executions: [{ name: "go", tasks }] })

  it("turns a wait, a search and an action into calls, each with the newest screen as its result", () => {
    const session = read([
      plan(1, "wait", "AAAA", 500),
      plan(3, "tap", "BBBB"),
      task("Planning", "Locate", 5, { usage, param: { prompt: "OK" } }),
      task("Action Space", "Tap", 7, { recorder: [shot("CCCC")] }),
      plan(9, "look", "CCCC"),
      task("Planning", "Locate", 10),
      task("Action Space", "Tap", 11, { status: "failed", recorder: [shot("DDDD"), shot("CCCC")] })
    ])
    const told = session.messages.map((message) => [
      message.role === "toolResult" ? message.toolName : message.role,
      ...(typeof message.content === "string" ? [] : message.content).map((block) =>
        block.type === "image" ? block.data : block.type === "text" ? block.text : block.type
      )
    ])
    expect(told).toEqual([
      ["user", "go", "AAAA"],
      ["assistant", "wait", "toolCall"],
      ["Sleep", "AAAA"],
      ["assistant", "tap", "toolCall"],
      ["Locate", "BBBB"],
      ["assistant", "toolCall"],
      ["Tap", "CCCC"],
      ["assistant", "look", "toolCall"],
      ["Tap", "DDDD", "CCCC"]
    ])
    expect(session.requests.map(({ at: index }) => index)).toEqual([1, 3, 5, 7])
    expect(session.messages.at(-1)).toMatchObject({ isError: true, timestamp: 12 })
    expect(session.skipped).toEqual({ "Planning/Locate by the plan": 1 })
  })
})
