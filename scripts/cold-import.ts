// How long the first import of a module takes, in processes of its own.
import { fail, run } from "./workspace.ts"

/** One cold import, in ms: `specifier` as code in `cwd` would import it. */
export const importTime = async (
  node: string,
  specifier: string,
  cwd?: string
): Promise<number> => {
  const { code, output } = await run(
    node,
    [
      "--input-type=module",
      "-e",
      `const from = performance.now(); await import(${JSON.stringify(specifier)}); ` +
        `console.log("ms", performance.now() - from); process.exit(0)`
    ],
    cwd === undefined ? {} : { cwd }
  )
  const ms = /ms ([\d.]+)/.exec(output)?.[1]
  return code === 0 && ms !== undefined
    ? Number(ms)
    : fail(`${specifier} can't be imported on ${node}:\n${output}`)
}
