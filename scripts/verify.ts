// The gate: `pnpm verify` runs every stage in order, `pnpm verify lint format` only those,
// `pnpm verify --skip tests` all but that one. The first failure stops it.
import { styleText } from "node:util"
import { members, packages, run } from "./workspace.ts"
import type { Ran } from "./workspace.ts"

interface Stage {
  readonly name: string
  readonly what: string
  readonly run: () => Promise<Ran>
  /** Its last line says what it found; shown in place of `what`. */
  readonly tells?: boolean
}

/** A script of this folder. */
const script = (
  name: string,
  what: string,
  file: string,
  ...args: ReadonlyArray<string>
): Stage => ({
  name,
  what,
  run: () => run(process.execPath, [`scripts/${file}`, ...args]),
  tells: true
})

/** One run of a tool per package, two at a time; the first that fails is the result. */
const each = (command: string, args: (folder: string) => ReadonlyArray<string>) => async () => {
  const left = packages().map(({ folder }) => folder)
  const done: Array<Ran> = []
  const worker = async (): Promise<void> => {
    const folder = left.shift()
    if (folder === undefined) return
    done.push(await run(command, args(folder)))
    await worker()
  }
  await Promise.all([worker(), worker()])
  return done.find(({ code }) => code !== 0) ?? { code: 0, output: "" }
}

const stages: ReadonlyArray<Stage> = [
  { name: "types", what: "TypeScript", run: () => run("tsc", ["-b"]) },
  {
    name: "lint",
    what: "oxlint, with types",
    run: () => run("oxlint", ["--type-aware", "--deny-warnings"])
  },
  {
    name: "effect",
    what: "Effect's own diagnostics",
    run: () =>
      run("effect-tsgo", [
        "diagnostics",
        "--project",
        "tsconfig.json",
        "--lspconfig",
        '{"diagnostics":true}',
        "--severity",
        "error",
        "--format",
        "text"
      ])
  },
  { name: "format", what: "oxfmt", run: () => run("oxfmt", ["--check", "."]) },
  { name: "tests", what: "vitest", run: () => run("vitest", ["run"], { show: true }) },
  {
    name: "soak",
    what: "10 000 random sessions, pipelines and profiles",
    run: () =>
      run(process.execPath, ["--conditions=@varve/source", "bench/src/soak/soak.ts", "10000"]),
    tells: true
  },
  script("docs", "code in docs compiles, runs and gives what it says", "doc-examples.ts"),
  script("api", "the API reference has no warnings", "api-reference.ts"),
  script("build", "dist, from nothing", "build.ts"),
  {
    name: "publint",
    what: "package.json against the files",
    run: each("publint", (folder) => ["run", folder, "--strict", "--pack", "false"])
  },
  {
    name: "attw",
    what: "typings as importers see them",
    run: each("attw", (folder) => ["--pack", folder, "--profile", "esm-only", "--no-emoji"])
  },
  { name: "knip", what: "nothing unused", run: () => run("knip", ["--no-config-hints"]) },
  script("size", "size budgets", "size.ts"),
  script("import", "cold import of core against that of Effect's modules", "import-time.ts"),
  script("install", "core installed alone, from its tarball", "release-dry.ts", "--built", "core"),
  script("requirements", "the tests that the map names exist", "requirements.ts")
]

const args = process.argv.slice(2)
const skipped = new Set<string>()
const wanted = new Set<string>()
for (let i = 0; i < args.length; i++) {
  if (args[i] === "--skip") skipped.add(args[++i] ?? "")
  else wanted.add(args[i] ?? "")
}
const names = stages.map(({ name }) => name)
const unknown = [...skipped, ...wanted].filter((name) => !names.includes(name))
if (unknown.length > 0) {
  console.error(`No such stage: ${unknown.join(", ")}. There are: ${names.join(", ")}`)
  process.exit(2)
}

const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`.padStart(8)
const width = Math.max(...names.map((name) => name.length))

const started = performance.now()
for (const stage of stages) {
  if (skipped.has(stage.name) || (wanted.size > 0 && !wanted.has(stage.name))) continue
  const from = performance.now()
  const { code, output } = await stage.run()
  const time = seconds(performance.now() - from)
  const name = stage.name.padEnd(width)
  if (code !== 0) {
    console.log(output.trimEnd())
    console.log(styleText("red", `fail ${name} ${time}  ${stage.what}`))
    console.log(`\nOnce it is mended: pnpm verify ${stage.name}`)
    process.exit(1)
  }
  const last = stage.tells === true ? output.trimEnd().split("\n").at(-1) : undefined
  console.log(`${styleText("green", "ok")}   ${name} ${time}  ${last || stage.what}`)
}
console.log(`verified ${members().length} members in${seconds(performance.now() - started)}`)
