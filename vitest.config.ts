import { existsSync, readdirSync } from "node:fs"
import { availableParallelism } from "node:os"
import { basename, join, relative } from "node:path"
import { defineConfig } from "vitest/config"
import { BaseSequencer } from "vitest/node"
import type { TestSpecification } from "vitest/node"

const root = import.meta.dirname

const members = ["packages", "examples"]
  .flatMap((folder) =>
    existsSync(join(root, folder))
      ? readdirSync(join(root, folder)).map((name) => join(folder, name))
      : []
  )
  .concat("bench")
  .filter((folder) => existsSync(join(root, folder, "package.json")))

/** Files that take 10 s and more, the longest first: they start first, so that none of them ends alone. */
const longest = [
  "packages/simulator/test/WhenItPays.test.ts",
  "packages/core/test/Memory.kill.test.ts",
  "packages/core/test/FileStore.kill.test.ts",
  "packages/core/test/Invariants.property.test.ts",
  "packages/core/test/Sessions.golden.test.ts",
  "packages/strategy-llm-summary/test/Conformance.test.ts",
  "examples/gui-agent/test/demo.test.ts",
  "packages/strategy-screenshot-prune/test/Sequences.test.ts",
  "packages/testkit/test/Conformance.test.ts"
]

class LongestFirst extends BaseSequencer {
  override async sort(files: Array<TestSpecification>): Promise<Array<TestSpecification>> {
    const place = ({ moduleId }: TestSpecification): number => {
      const at = longest.indexOf(relative(root, moduleId).replaceAll("\\", "/"))
      return at < 0 ? longest.length : at
    }
    return (await super.sort(files)).toSorted((a, b) => place(a) - place(b))
  }
}

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
    // By default one core is left free: of two, half the machine.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    sequence: { sequencer: LongestFirst },
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
