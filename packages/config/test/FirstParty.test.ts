import * as presetCoding from "@varve/preset-coding"
import * as preset from "@varve/preset-gui"
import * as profiles from "@varve/profiles"
import * as extractive from "@varve/strategy-extractive-summary"
import * as llm from "@varve/strategy-llm-summary"
import * as screenshots from "@varve/strategy-screenshot-prune"
import * as mask from "@varve/strategy-tool-result-mask"
import * as tokenizer from "@varve/tokenizer"
import { execFile } from "node:child_process"
import { join } from "node:path"
import { promisify } from "node:util"
import { expect, it } from "vitest"
import { exportNames } from "../src/internal/plugins.ts"

const packages: Readonly<Record<string, object>> = {
  "@varve/preset-coding": presetCoding,
  "@varve/preset-gui": preset,
  "@varve/profiles": profiles,
  "@varve/strategy-extractive-summary": extractive,
  "@varve/strategy-llm-summary": llm,
  "@varve/strategy-screenshot-prune": screenshots,
  "@varve/strategy-tool-result-mask": mask,
  "@varve/tokenizer": tokenizer
}

it("the export that is meant where none is named is there, for each package", () => {
  expect(Object.keys(exportNames).toSorted()).toEqual(Object.keys(packages))
  for (const [name, own] of Object.entries(exportNames)) {
    expect(packages[name]).toHaveProperty(own, expect.any(Function))
  }
})

it("Varve's own packages are found by name, and their wrong options have full paths", async () => {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ["--conditions=@varve/source", join(import.meta.dirname, "fixtures/first-party.ts")],
    { env: { ...process.env, NODE_OPTIONS: "" } }
  )
  const { found, wrong } = JSON.parse(stdout)
  expect(found).toMatchObject([
    {
      name: "browser",
      strategies: ["screenshots", "stepMemory", "hardLimit"],
      model: "anthropic/claude-opus-5.5",
      counter: "tiktoken"
    },
    { name: "coder", strategies: ["maskToolResults"], model: "openai/gpt-5.5", images: 4 },
    {
      name: "gui",
      strategies: ["screenshots", "stepMemory", "conversationSummary", "hardLimit"]
    },
    { name: "reviewer", strategies: ["maskToolResults", "conversationSummary", "hardLimit"] }
  ])
  expect(wrong).toEqual([
    "agents.browser.pipeline[0].with.keep",
    "agents.coder.store.with.directory",
    "agents.gui.preset.with.keep",
    "agents.reviewer.preset.with.except",
    "agents.writer.summarizer.with.model"
  ])
}, 30_000)
