// Publishes all packages with provenance: the checks, the gate, the dry release, then `changeset publish`.
// `node scripts/release.ts --check` says only what stands in the way.
import { readFileSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { problemsOf } from "./release-checks.ts"
import { fail, packages, root, run } from "./workspace.ts"

const status = await run("git", ["status", "--porcelain"])
if (status.code !== 0) fail(status.output)
const problems = problemsOf({
  manifests: packages().map(({ manifest }) => manifest),
  changesets: readdirSync(join(root, ".changeset")),
  status: status.output,
  env: process.env
})
if (problems.length > 0) fail(problems.join("\n"))
if (process.argv.includes("--check")) {
  console.log("Nothing stands in the way of a release.")
  process.exit(0)
}

const { packageManager } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  readonly packageManager: string
}
const steps = [
  [process.execPath, "scripts/verify.ts"],
  [process.execPath, "scripts/release-dry.ts", "--built"],
  // changesets publishes with pnpm, which puts versions in the place of `workspace:` and `catalog:`.
  ["npx", "-y", "-p", packageManager, "-c", "changeset publish"]
] as const
for (const [command, ...args] of steps) {
  const env = { npm_config_provenance: "true" }
  const { code } = await run(command, args, { show: true, env })
  if (code !== 0) fail(`Stopped at: ${[command, ...args].join(" ")}`)
}
