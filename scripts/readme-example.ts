// The first example of a README that runs, as a file that any Node can run.
import { isBuiltin } from "node:module"
import ts from "typescript"
import { blocksOf } from "./doc-blocks.ts"

export interface ReadmeExample {
  /** JavaScript. */
  readonly code: string
  readonly line: number
  /** What it prints, by its own `// =>`, without regard to spaces. */
  readonly prints: string
  /** The packages that it imports. */
  readonly packages: ReadonlyArray<string>
}

// Other than Node's own stripping of types, this prints no warning.
const compilerOptions: ts.CompilerOptions = {
  module: ts.ModuleKind.ESNext,
  target: ts.ScriptTarget.ES2022,
  verbatimModuleSyntax: true
}

const squeezed = (text: string): string => text.replaceAll(/\s+/g, " ").trim()

const packageOf = (specifier: string): string =>
  specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/")

/** The first block that runs; nothing where a README has none. */
export const readmeExample = (file: string, text: string): ReadmeExample | undefined => {
  const block = blocksOf(file, text, []).find(({ mode }) => mode === "run")
  if (block === undefined) return undefined
  const specifiers = [...block.code.matchAll(/\b(?:from|import)\s*\(?\s*"([^"]+)"/g)].map(
    ([, specifier = ""]) => specifier
  )
  return {
    code: ts.transpileModule(block.code, { compilerOptions }).outputText,
    line: block.line,
    prints: squeezed(block.prints.join(" ")),
    packages: [...new Set(specifiers.filter((s) => !isBuiltin(s)).map(packageOf))].toSorted()
  }
}

/** The packages that a README says to install, in all of its install lines. */
export const installed = (text: string): ReadonlyArray<string> =>
  [...text.matchAll(/^npm install ([^#\n]*)/gm)]
    .flatMap(([, words = ""]) => words.split(" "))
    .filter((word) => /^[@a-z]/.test(word))

/** What is wrong with what an example printed; nothing where it is what the example says, or where it says nothing. */
export const complaint = ({ prints }: ReadmeExample, printed: string): string | undefined =>
  prints === "" || squeezed(printed) === prints
    ? undefined
    : `it says   ${prints}\nbut prints ${squeezed(printed)}`
