import { existsSync, readdirSync } from "node:fs"
import { basename, join } from "node:path"
import { defineConfig } from "vitest/config"

const root = import.meta.dirname

const members = ["packages", "examples"]
  .flatMap((folder) =>
    existsSync(join(root, folder))
      ? readdirSync(join(root, folder)).map((name) => join(folder, name))
      : []
  )
  .concat("bench")
  .filter((folder) => existsSync(join(root, folder, "package.json")))

export default defineConfig({
  // Workspace packages resolve to their `src`, so tests need no build.
  resolve: { conditions: ["@varve/source", "module", "node", "development|production"] },
  ssr: { resolve: { conditions: ["@varve/source", "module", "node", "development|production"] } },
  test: {
    // `.ci/run` reads the results for its closing line.
    reporters: process.env["CI"]
      ? ["default", ["json", { outputFile: join(root, ".cache", "tests.json") }]]
      : ["default"],
    include: ["test/**/*.test.ts"],
    // Ends what hangs; no test is about how long it takes.
    testTimeout: 120_000,
    setupFiles: [join(root, "scripts/seed.ts")],
    projects: [
      { extends: true, test: { name: "repo", root, include: ["scripts/test/**/*.test.ts"] } },
      ...members.map((folder) => ({
        extends: true as const,
        test: { name: basename(folder), root: join(root, folder) }
      }))
    ]
  }
})
