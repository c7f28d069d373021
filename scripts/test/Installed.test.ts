import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, describe, expect, it } from "vitest"
import { installedIn, suits } from "../installed.ts"

const folder = mkdtempSync(join(tmpdir(), "varve-installed-"))
afterAll(() => rmSync(folder, { recursive: true }))

const put = (path: string, manifest: object, bytes: number): void => {
  mkdirSync(join(folder, path), { recursive: true })
  const text = JSON.stringify(manifest)
  writeFileSync(join(folder, path, "package.json"), text)
  writeFileSync(join(folder, path, "index.js"), "x".repeat(bytes - text.length))
}

describe("what is installed", () => {
  it("counts each package by itself, scoped ones and those inside of others too", () => {
    put("effect", { version: "4.1.0" }, 500)
    put("@varve/core", { version: "0.0.0", engines: { node: ">=20.19" } }, 300)
    put("@varve/core/node_modules/inner", { version: "1.0.0" }, 100)
    mkdirSync(join(folder, ".bin"))
    expect(installedIn(folder).toSorted((a, b) => a.bytes - b.bytes)).toEqual([
      { name: "inner", version: "1.0.0", bytes: 100, node: undefined },
      { name: "@varve/core", version: "0.0.0", bytes: 300, node: ">=20.19" },
      { name: "effect", version: "4.1.0", bytes: 500, node: undefined }
    ])
  })

  it.each([
    ["v20.20.2", ">=22", false],
    ["v20.20.2", ">=20.19", true],
    ["v20.20.2", ">=22.19.0", false],
    ["v24.21.0", ">=22.19.0", true],
    ["v20.20.2", "^18.18.0 || ^20.9.0 || >=21.1.0", true],
    ["v20.20.2", "^18.18.0 || ^20.30.0 || >=22", false],
    ["v24.21.0", "^20.9.0", false],
    ["v20.20.2", "20 || 22", true],
    ["v20.20.2", undefined, true],
    ["v20.20.2", "*", true]
  ])("%s suits %s: %s", (node, range, holds) => {
    expect(suits(node, range)).toBe(holds)
  })
})
