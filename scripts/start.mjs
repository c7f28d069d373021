#!/usr/bin/env node
// Sets the repo up where needed, then runs one of its tasks: `node scripts/start.mjs TASK [ARGS]`.
// It runs before anything is installed, on any Node from 20.19 on: plain JavaScript, no dependency.
import { spawn } from "node:child_process"
import { createHash } from "node:crypto"
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { delimiter, dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const path = (...parts) => join(root, ...parts)

/** Each task is the arguments of one Node process, started in the repo's root. */
const tasks = {
  test: [path("node_modules", "vitest", "vitest.mjs"), "run"],
  demo: ["--conditions=@varve/source", path("examples", "gui-agent", "src", "demo.ts")],
  example: ["--conditions=@varve/source"],
  verify: [path("scripts", "verify.ts")],
  soak: ["--conditions=@varve/source", path("bench", "src", "soak", "soak.ts")],
  mutate: [path("scripts", "mutate.ts")],
  peers: ["--conditions=@varve/source", path("bench", "src", "peers", "peers.ts")],
  docs: [path("scripts", "api-reference.ts")],
  pack: [path("scripts", "pack.ts")],
  "release:dry": [path("scripts", "release-dry.ts")],
  release: [path("scripts", "release.ts")],
  summary: [path("scripts", "summary.ts")]
}

/** What an example runs. */
const mainOf = (folder) => path("examples", folder, "src", "main.ts")

const say = (line) => process.stderr.write(`varve: ${line}\n`)
const stop = (line, code = 1) => {
  say(line)
  process.exit(code)
}

const atLeast = (version, ...wanted) => {
  const have = version.split(".").map(Number)
  for (const [i, part] of wanted.entries()) {
    if (have[i] !== part) return have[i] > part
  }
  return true
}

const run = (command, args, options) =>
  new Promise((resolve) => {
    const child = spawn(command, args, { cwd: root, ...options })
    const forward = (signal) => child.kill(signal)
    process.on("SIGINT", forward)
    process.on("SIGTERM", forward)
    let output = ""
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on("data", (chunk) => {
        process.stderr.write(chunk)
        output = (output + chunk).slice(-20_000)
      })
    }
    child.on("error", (error) => resolve({ code: 127, output: String(error) }))
    child.on("close", (code, signal) => resolve({ code: code ?? (signal ? 130 : 1), output }))
  })

// The lockfile that node_modules was installed from. Written last, so an interrupted
// installation is done again.
const stamp = path("node_modules", ".varve-setup")

const wantedStamp = () => {
  const hash = createHash("sha256")
  for (const name of ["pnpm-lock.yaml", "pnpm-workspace.yaml"])
    hash.update(readFileSync(path(name)))
  return `${process.platform}-${process.arch} ${hash.digest("hex")}\n`
}

const offline =
  /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ENETUNREACH|ETIMEDOUT|getaddrinfo|dns error|error sending request/i

const install = async () => {
  const wanted = wantedStamp()
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === wanted) return
  const { packageManager } = JSON.parse(readFileSync(path("package.json"), "utf8"))
  say("installing dependencies. The first time takes about half a minute.")
  rmSync(stamp, { force: true })
  const started = Date.now()
  const { code, output } = await run(
    "npx",
    ["-y", packageManager, "install", "--frozen-lockfile", "--reporter=append-only"],
    {
      stdio: ["ignore", "pipe", "pipe"],
      shell: process.platform === "win32",
      // Without a network, say so after seconds rather than a minute.
      env: {
        ...process.env,
        npm_config_fetch_retry_mintimeout: "1000",
        npm_config_fetch_retry_maxtimeout: "5000"
      }
    }
  )
  if (code === 127) {
    stop(
      "`npx` was not found. It comes with npm: install Node.js 20.19 or later together with npm."
    )
  }
  if (code !== 0 && /OUTDATED_LOCKFILE|frozen-lockfile/i.test(output)) {
    stop(`pnpm-lock.yaml doesn't match the package.json files. Run: npx ${packageManager} install`)
  }
  if (code !== 0 && offline.test(output)) {
    stop("the npm registry can't be reached. The first run needs it; later ones work offline.")
  }
  if (code !== 0) stop(`the installation failed with code ${code}; its output is above.`)
  mkdirSync(dirname(stamp), { recursive: true })
  writeFileSync(stamp, wanted)
  say(`installed in ${((Date.now() - started) / 1000).toFixed(1)} s`)
}

// The tools need a newer Node than the published packages do. It comes as a dependency.
const findNode = () => {
  const platform = process.platform === "win32" ? "win" : process.platform
  const file = process.platform === "win32" ? "node.exe" : "node"
  const own = path("node_modules", `node-${platform}-${process.arch}`, "bin", file)
  if (existsSync(own)) return own
  if (atLeast(process.versions.node, 22, 18)) return process.execPath
  return stop(
    `on ${process.platform}-${process.arch} the tools of this repo need Node 22.18 or later; ` +
      `this is ${process.version}. Install a newer Node and run this again.`
  )
}

if (!atLeast(process.versions.node, 20, 19)) {
  stop(
    `Node 20.19 or later is needed; this is ${process.version}. Get one from your package manager.`
  )
}
const [task = "", ...args] = process.argv.slice(2)
if (!Object.hasOwn(tasks, task)) {
  stop(`unknown task ${JSON.stringify(task)}; there are: ${Object.keys(tasks).join(", ")}`, 2)
}
if (task === "example") {
  const name = args.shift() ?? ""
  const all = readdirSync(path("examples")).filter((folder) => existsSync(mainOf(folder)))
  if (!all.includes(name)) stop(`name an example: ${all.join(", ")}`, 2)
  tasks.example.push(mainOf(name))
}
await install()
const { code } = await run(findNode(), [...tasks[task], ...args], {
  stdio: "inherit",
  env: { ...process.env, PATH: path("node_modules", ".bin") + delimiter + process.env.PATH }
})
process.exit(code)
