// Extracts the TypeScript blocks of READMEs, docs and JSDoc `@example`s, type-checks them and
// runs them. `node scripts/doc-examples.ts [FOLDER...]` looks only at those folders.
//
// - A block marked ```ts fragment is left alone: it is part of something larger.
// - A block marked ```ts no-run is type-checked only: it needs a key, a network or a host.
// - `console.log(x) // => text` (or with `// => text` on the next line) asserts what is printed.
import {
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { dirname, join } from "node:path"
import { blocksOf } from "./doc-blocks.ts"
import type { Block } from "./doc-blocks.ts"
import { fail, members, packages, root, run } from "./workspace.ts"

const only = process.argv.slice(2).map((folder) => folder.replace(/\/+$/, ""))

/** Each home is where its blocks are compiled, so that they resolve what its readers have. */
const homes = [
  { folder: ".", globs: ["README.md", "AGENTS.md", "docs/**/*.md"] },
  ...members().map(({ folder }) => ({
    folder,
    globs: [`${folder}/README.md`, `${folder}/src/**/*.ts`]
  }))
].filter(({ folder }) => only.length === 0 || only.includes(folder))

const problems: Array<string> = []
const examples: Array<Block & { readonly out: string }> = []

/** Puts a package into the node_modules of a folder, unless there is one of that name. */
const link = (folder: string, name: string, to: string): void => {
  const place = join(folder, "node_modules", name)
  if (existsSync(place) || !existsSync(to)) return
  mkdirSync(dirname(place), { recursive: true })
  symlinkSync(to, place, "junction")
}

for (const home of homes) {
  const folder = join(root, home.folder, ".examples")
  rmSync(folder, { recursive: true, force: true })
  const blocks = home.globs
    .flatMap((glob) => globSync(glob, { cwd: root }))
    .toSorted()
    .flatMap((file) => blocksOf(file, readFileSync(join(root, file), "utf8"), problems))
  const compiled = blocks.filter(({ mode }) => mode !== "fragment")
  if (compiled.length === 0) continue
  // Every package is at hand under its own name, as it is for a reader who installed them.
  for (const { manifest, path } of packages()) link(folder, manifest.name, path)
  // The root has no host or SDK of its own; its documents speak of those that the members have.
  if (home.folder === ".") {
    for (const { manifest, path } of members()) {
      for (const name of Object.keys({ ...manifest.dependencies, ...manifest.devDependencies })) {
        link(folder, name, join(path, "node_modules", name))
      }
    }
  }
  for (const block of compiled) {
    const name = `${block.file.replace(/[^\w]+/g, "-")}-${block.line}.ts`
    writeFileSync(join(folder, name), `${block.code}\nexport {}\n`)
    examples.push({ ...block, out: join(folder, name) })
  }
}
if (problems.length > 0) fail(problems.join("\n"))

/** Rewrites places in the extracted files to places in the documents. */
const located = (text: string): string =>
  examples.reduce((rest, { out, file, line }) => {
    const short = out.slice(root.length + 1).replaceAll("\\", "/")
    return rest.replaceAll(
      new RegExp(`${short.replaceAll(".", "\\.")}\\((\\d+),`, "g"),
      (_, n) => `${file}(${Number(n) + line},`
    )
  }, text)

if (examples.length > 0) {
  const project = join(root, ".examples", "tsconfig.json")
  mkdirSync(dirname(project), { recursive: true })
  writeFileSync(
    project,
    JSON.stringify({
      extends: "../tsconfig.base.json",
      compilerOptions: {
        composite: false,
        declaration: false,
        declarationMap: false,
        noEmit: true,
        noUnusedLocals: false,
        noUnusedParameters: false
      },
      files: examples.map(({ out }) => out)
    })
  )
  const types = await run("tsc", ["-p", project])
  if (types.code !== 0) fail(located(types.output))
}

const runnable = examples.filter(({ mode }) => mode === "run")
for (const home of homes) {
  const mine = runnable.filter(
    ({ out }) => dirname(dirname(out)) === join(root, home.folder === "." ? "" : home.folder)
  )
  if (mine.length === 0) continue
  const list = join(root, home.folder, ".examples", "list.json")
  writeFileSync(list, JSON.stringify(mine))
  const { code, output } = await run(
    process.execPath,
    ["--conditions=@varve/source", join(root, "scripts", "doc-run.ts"), list],
    { timeoutMs: 120_000 }
  )
  if (code !== 0) fail(output)
}
for (const home of homes) {
  const folder = join(root, home.folder, ".examples")
  if (existsSync(folder)) rmSync(folder, { recursive: true, force: true })
}
console.log(
  `${examples.length} examples compiled, ${runnable.length} of them ran and gave what they say`
)
