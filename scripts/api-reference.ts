// The API reference of all packages as Markdown, into `api/` (not kept in git). Every warning is a failure.
import { globSync, mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Application } from "typedoc"
import type { TypeDocOptions } from "typedoc"
import type { PluginOptions } from "typedoc-plugin-markdown"
import { fail, packages, root } from "./workspace.ts"

/** A module for each noun, as importers have them; an index only names these again. */
const entryPoints = packages().flatMap(({ folder }) =>
  globSync(`${folder}/src/*.ts`, { cwd: root, exclude: ["**/index.ts"] }).toSorted()
)

const tsconfig = join(root, ".cache", "api", "tsconfig.json")
mkdirSync(join(tsconfig, ".."), { recursive: true })
writeFileSync(
  tsconfig,
  JSON.stringify({
    extends: "../../tsconfig.base.json",
    compilerOptions: { composite: false, noEmit: true, rootDir: "../.." },
    files: entryPoints.map((file) => join(root, file))
  })
)

const options: Partial<TypeDocOptions & PluginOptions> = {
  name: "Varve",
  entryPoints: entryPoints.map((file) => join(root, file)),
  tsconfig,
  plugin: ["typedoc-plugin-markdown"],
  // A page a module.
  router: "module",
  out: join(root, "api"),
  readme: "none",
  disableSources: true,
  excludePrivate: true,
  excludeInternal: true,
  // The gate's own stage checks types.
  skipErrorChecking: true,
  validation: { invalidLink: true, invalidPath: true, notExported: true, rewrittenLink: true },
  logLevel: "Warn"
}
const app = await Application.bootstrapWithPlugins(options)
const project = await app.convert()
if (project === undefined) process.exit(1)
for (const module of project.children ?? []) {
  module.name = module.name.replace(/^([^/]+)\/src\/(.+)$/, "@varve/$1/$2")
}
app.validate(project)
if (!app.logger.hasErrors()) await app.generateOutputs(project)
if (app.logger.hasErrors() || app.logger.hasWarnings()) {
  fail(`The API reference has warnings: ${app.logger.warningCount} of them.`)
}
console.log(`${entryPoints.length} modules of ${packages().length} packages described in api/`)
