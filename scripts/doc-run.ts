// Runs the examples of one home, one after the other, and compares what they print with what
// they say. Started by doc-examples.ts with the path of a list.
import { readFileSync } from "node:fs"
import { pathToFileURL } from "node:url"
import { format } from "node:util"
import type { Block } from "./doc-blocks.ts"

const list = JSON.parse(readFileSync(process.argv[2] ?? "", "utf8")) as ReadonlyArray<
  Block & { readonly out: string }
>
const write = console.error
let failed = 0
let where = ""
const complain = (text: string) => {
  failed++
  write(`${where}: ${text}`)
}

process.on("unhandledRejection", (error) => complain(format(error)))
process.on("uncaughtException", (error) => complain(format(error)))

const squeezed = (text: string) => text.replace(/\s+/g, " ").trim()

for (const { file, line, out, prints } of list) {
  where = `${file}:${line}`
  const printed: Array<string> = []
  for (const method of ["log", "info", "warn", "error", "debug"] as const) {
    console[method] = (...values: ReadonlyArray<unknown>) => {
      if (method === "log") printed.push(format(...values))
    }
  }
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error("still running after 20 s")), 20_000)
  })
  try {
    await Promise.race([import(pathToFileURL(out).href), late])
    await new Promise((resolve) => setImmediate(resolve))
  } catch (error) {
    complain(format(error))
    continue
  } finally {
    clearTimeout(timer)
  }
  if (prints.length === 0) continue
  if (prints.length !== printed.length) {
    complain(`it has ${prints.length} \`// =>\`, but printed ${printed.length} values`)
  }
  for (const [i, said] of prints.entries()) {
    if (i < printed.length && squeezed(printed[i] ?? "") !== squeezed(said)) {
      complain(`it says   => ${said}\n  but prints   ${squeezed(printed[i] ?? "")}`)
    }
  }
}
process.exit(failed === 0 ? 0 : 1)
