/** What the agent works on: a tool that reads files, one that runs tests, and a model with a script. */
import type Anthropic from "@anthropic-ai/sdk"
import type { Answer, Body } from "./Server.ts"

const parameter = (name: string) => ({
  type: "object" as const,
  properties: { [name]: { type: "string" } }
})

export const tools: ReadonlyArray<Anthropic.Tool> = [
  { name: "read", description: "Reads a file.", input_schema: parameter("path") },
  { name: "test", description: "Runs the tests of a file.", input_schema: parameter("path") }
]

export const run = (name: string, input: unknown): string => {
  const { path } = input as { readonly path: string }
  if (name === "test" && path.endsWith("7.ts")) throw new Error(`${path}: expected 1, got 2`)
  return name === "test"
    ? `${path}: ok\n`.repeat(20)
    : `// ${path}\n${`export const part = "${path}"\n`.repeat(60)}`
}

/** A model that reads and tests `steps` times, and then ends. */
export const script =
  (steps: number) =>
  (_: Body, n: number): Answer =>
    n === steps
      ? "The build is green."
      : { name: n % 2 === 0 ? "read" : "test", input: { path: `src/part${n}.ts` } }
