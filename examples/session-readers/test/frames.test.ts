import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import type { Message } from "../src/Message.ts"
import * as ScreenAgent from "../src/ScreenAgent.ts"
import * as Screens from "../src/Screens.ts"
import { inFolder, PNG, readJson, sample, write } from "./samples.ts"

const roles = (messages: ReadonlyArray<Message>) => messages.map(({ role }) => role)

describe("sequences of screens", () => {
  it("begin with the first action where the first screen is missing", () => {
    const session = inFolder((folder) => {
      const missing = { ...sample("OpenCua"), images: ["1.png"] }
      return missing.read(write(folder, missing))
    })
    expect(roles(session.messages)).toEqual(["user", "assistant", "toolResult", "assistant"])
    expect(session.skipped).toEqual({ "missing screen": 1 })
  })

  it("take the type of an image from its bytes and the order from the numbers in the names", () => {
    const session = inFolder((folder) => {
      const jpeg = Buffer.from("ffd8ffe0", "hex")
      writeFileSync(join(folder, "10.png"), Buffer.from(PNG, "base64"))
      writeFileSync(join(folder, "9.png"), jpeg)
      return Screens.read(folder)
    })
    const seen = session.messages.flatMap(({ content, role }) =>
      role === "toolResult" ? [content] : []
    )
    expect(seen).toMatchObject([
      [{ text: "9.png" }, { mimeType: "image/jpeg" }],
      [{ text: "10.png" }, { mimeType: "image/png", data: PNG }]
    ])
  })

  it("refuse a file that is no image", () => {
    inFolder((folder) => {
      writeFileSync(join(folder, "1.png"), "<svg/>")
      expect(() => Screens.read(folder)).toThrow(/1\.png: neither PNG nor JPEG/)
    })
  })

  it("leave negative samples out", () => {
    inFolder((folder) => {
      const path = write(folder, sample("ScreenAgent"))
      writeFileSync(join(path, "2023-12-20_11-19-39-756126_translate_neg_plan.json"), "{}")
      expect(ScreenAgent.read(path).skipped).toEqual({ "negative sample": 1, prompt: 1 })
    })
  })

  it("put WebVoyager's thoughts, actions and screens in their places", () => {
    const { messages, system } = readJson("WebVoyager", sample("WebVoyager").json)
    expect(system).toBe("be good")
    expect(messages.slice(1)).toMatchObject([
      { content: [{ name: "screenshot" }] },
      { content: [{ type: "image" }] },
      {
        content: [{ text: "Thought: so" }, { name: "browser", arguments: { action: "Click [1]" } }]
      },
      { toolName: "browser", content: [{ text: "[1]: link" }, { type: "image" }] },
      { content: [{ text: "Thought: done" }, { text: '{"action":"ANSWER; 42"}' }] }
    ])
  })
})
