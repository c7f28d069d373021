import { readFileSync } from "node:fs"
import { expect, it } from "vitest"
import { jsonSchema } from "./fixtures/jsonSchema.ts"

it("schema.json is the Schema; `node --conditions=@varve/source test/fixtures/print-schema.ts` prints it anew", () => {
  const file = new URL("../src/data/schema.json", import.meta.url)
  expect(JSON.parse(readFileSync(file, "utf8"))).toEqual(JSON.parse(JSON.stringify(jsonSchema())))
})

it("schema.json knows what an editor should: fields, plugins, commit rules", () => {
  const text = JSON.stringify(jsonSchema())
  for (const word of ["pipeline", "subagents", "#/$defs/Plugin", "whenItPays", "#/$defs/Agent"]) {
    expect(text).toContain(word)
  }
  expect(jsonSchema()).toMatchObject({ additionalProperties: false, required: ["agents"] })
})
