// What the repo's scripts share: where things are, and how to run a tool.
import { spawn } from "node:child_process"
import { existsSync, readFileSync, readdirSync } from "node:fs"
import { delimiter, join } from "node:path"

export const root = join(import.meta.dirname, "..")

export interface Manifest {
  readonly name: string
  readonly version: string
  readonly private?: boolean
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly [field: string]: unknown
}

/** A member of the workspace: `folder` is relative to the root, with `/` between its parts. */
export interface Member {
  readonly folder: string
  readonly path: string
  readonly manifest: Manifest
}

const read = (folder: string): Array<Member> => {
  const path = join(root, folder)
  const file = join(path, "package.json")
  if (!existsSync(file)) return []
  return [{ folder, path, manifest: JSON.parse(readFileSync(file, "utf8")) as Manifest }]
}

const under = (parent: string): Array<Member> =>
  existsSync(join(root, parent))
    ? readdirSync(join(root, parent))
        .toSorted()
        .flatMap((name) => read(`${parent}/${name}`))
    : []

/** The published packages. */
export const packages = (): ReadonlyArray<Member> => under("packages")

/** All members: packages, examples and the benchmarks. */
export const members = (): ReadonlyArray<Member> => [
  ...packages(),
  ...under("examples"),
  ...read("bench")
]

export interface Ran {
  readonly code: number
  readonly output: string
}

/** Runs a command to its end; the tools of node_modules come first. Never rejects. */
export const run = (
  command: string,
  args: ReadonlyArray<string>,
  options: { cwd?: string; env?: NodeJS.ProcessEnv; show?: boolean; timeoutMs?: number } = {}
): Promise<Ran> =>
  new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd: options.cwd ?? root,
      env: {
        ...process.env,
        PATH: join(root, "node_modules", ".bin") + delimiter + process.env["PATH"],
        ...options.env
      },
      stdio: ["ignore", options.show ? "inherit" : "pipe", options.show ? "inherit" : "pipe"],
      shell: process.platform === "win32",
      ...(options.timeoutMs === undefined ? {} : { timeout: options.timeoutMs })
    })
    let output = ""
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding("utf8").on("data", (chunk: string) => (output += chunk))
    }
    child.on("error", (error) => resolve({ code: 127, output: `${output}${error.message}\n` }))
    child.on("close", (code, signal) =>
      resolve({ code: code ?? 1, output: signal ? `${output}ended by ${signal}\n` : output })
    )
  })

/** Ends the script with a failure that says what is wrong. */
export const fail = (message: string): never => {
  console.error(message)
  process.exit(1)
}
