import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import type { Message } from "../src/Message.ts"
import * as OpenHandsSdk from "../src/OpenHandsSdk.ts"
import { inFolder, readLines, sample, write } from "./samples.ts"

const at = (second: number) => new Date(Date.UTC(2026, 0, 2, 3, 4, second)).toISOString()
const roles = (messages: ReadonlyArray<Message>) => messages.map(({ role }) => role)

describe("OpenHands", () => {
  it("makes one message of the actions of one response", () => {
    const call = (id: string) => ({ id, function: { name: "run", arguments: "{}" } })
    const model_response = {
      id: "r1",
      model: "m",
      choices: [{ message: { content: "both", tool_calls: [call("c1"), call("c2")] } }]
    }
    const event = (id: string, more: object) => ({
      timestamp: at(0),
      tool_call_metadata: { tool_call_id: id, model_response },
      ...more
    })
    const { messages, requests } = readLines("OpenHands", [
      {
        instance_id: "task",
        metrics: { token_usages: [] },
        history: [
          event("c1", { action: "run" }),
          event("c1", { observation: "run", content: "1" }),
          event("c2", { action: "run" }),
          event("c2", { observation: "run", content: "2" })
        ]
      }
    ])
    expect(roles(messages)).toEqual(["assistant", "toolResult", "toolResult"])
    expect(messages[0]?.content).toMatchObject([{ text: "both" }, { id: "c1" }, { id: "c2" }])
    expect(requests.length).toBe(1)
  })
})

describe("OpenHandsSdk", () => {
  it("refuses calls that don't go on from one another", () => {
    inFolder((folder) => {
      const path = write(folder, sample("OpenHandsSdk"))
      writeFileSync(join(path, "litellm_2.json"), JSON.stringify(sample("OpenHandsSdk").json))
      expect(() => OpenHandsSdk.read(path)).toThrow(
        /litellm_2\.json: its messages don't begin with those/
      )
    })
  })
})
