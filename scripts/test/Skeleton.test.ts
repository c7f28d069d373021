import { existsSync, readFileSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { members, packages, root } from "../workspace.ts"

const text = (...path: ReadonlyArray<string>) => readFileSync(join(root, ...path), "utf8")
const json = (...path: ReadonlyArray<string>): any => JSON.parse(text(...path))

/** The fields of every package.json, in this order; some may be left out. */
const fields = [
  "name",
  "version",
  "description",
  "license",
  "repository",
  "type",
  "sideEffects",
  "engines",
  "files",
  "exports",
  "publishConfig",
  "dependencies",
  "peerDependencies",
  "peerDependenciesMeta",
  "devDependencies"
]
const optional = [
  "repository",
  "dependencies",
  "peerDependencies",
  "peerDependenciesMeta",
  "devDependencies"
]

const same = {
  license: "MIT",
  type: "module",
  sideEffects: false,
  engines: { node: ">=20.19" },
  files: ["dist", "src", "!dist/.tsbuildinfo"],
  exports: {
    ".": {
      "@varve/source": "./src/index.ts",
      types: "./dist/index.d.ts",
      default: "./dist/index.js"
    },
    "./*": { "@varve/source": "./src/*.ts", types: "./dist/*.d.ts", default: "./dist/*.js" },
    "./internal/*": null,
    "./package.json": "./package.json"
  },
  publishConfig: { access: "public", provenance: true }
}

const sections = [
  "What",
  "When",
  "Install",
  "Use",
  "Options",
  "Types",
  "Compatibility",
  "Errors",
  "Security"
]

describe.each(packages().map((member) => [member.folder, member] as const))(
  "%s has the skeleton",
  (folder, { manifest }) => {
    it("package.json: the same fields in one order", () => {
      const keys = Object.keys(manifest)
      expect(keys).toEqual(fields.filter((key) => keys.includes(key)))
      expect(keys).toEqual(expect.arrayContaining(fields.filter((key) => !optional.includes(key))))
      expect(manifest).toMatchObject(same)
      // Data of its own, as a JSON schema, a package may export besides.
      const code = Object.entries(manifest["exports"] as Record<string, unknown>).filter(
        ([path, file]) => path in same.exports || !String(file).startsWith("./src/data/")
      )
      expect(Object.fromEntries(code)).toEqual(same.exports)
      expect(manifest.name).toBe(`@varve/${folder.split("/").at(-1)}`)
      expect(manifest["description"]).toMatch(/^[A-Z].*[^.]$/)
    })

    it("package.json: versions come from the catalog or the workspace, Effect is a peer", () => {
      for (const kind of ["dependencies", "devDependencies"] as const) {
        const list = (manifest[kind] ?? {}) as Record<string, string>
        expect(Object.keys(list)).toEqual(Object.keys(list).toSorted())
        for (const [name, version] of Object.entries(list)) {
          expect(`${name} ${version}`).toBe(
            `${name} ${/^@varve(-examples)?\//.test(name) ? "workspace:^" : "catalog:"}`
          )
        }
      }
      expect(manifest.dependencies ?? {}).not.toHaveProperty("effect")
      if (manifest.peerDependencies?.["effect"]) {
        expect(["^4.1.0", "~4.1.0"]).toContain(manifest.peerDependencies["effect"])
      }
    })

    it("tsconfig.json refers to the packages that it depends on", () => {
      const config = json(folder, "tsconfig.json")
      expect(config.extends).toBe("../../tsconfig.base.json")
      expect(config.include).toEqual(["src"])
      expect(config.compilerOptions).toEqual({
        rootDir: "src",
        outDir: "dist",
        tsBuildInfoFile: "dist/.tsbuildinfo"
      })
      const wanted = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies })
        .filter((name) => name.startsWith("@varve/"))
        .map((name) => `../${name.slice("@varve/".length)}`)
      const referred = (config.references ?? []).map(({ path }: { path: string }) => path)
      expect(referred).toEqual(expect.arrayContaining(wanted))
    })

    it("README.md: the name, then the sections in their order", () => {
      const headings = text(folder, "README.md")
        .replaceAll(/^```[\s\S]*?^```/gm, "")
        .split("\n")
        .filter((line) => /^##? /.test(line))
      expect(headings).toEqual([`# ${manifest.name}`, ...sections.map((name) => `## ${name}`)])
    })

    it("LICENSE is the repo's", () => {
      expect(text(folder, "LICENSE")).toBe(text("LICENSE"))
    })

    it("src: one noun a file, and an index that only re-exports", () => {
      for (const entry of readdirSync(join(root, folder, "src"), { withFileTypes: true })) {
        if (entry.isDirectory()) continue
        expect(entry.name).toMatch(/^[A-Za-z][A-Za-z0-9]*\.ts$/)
      }
      const statements = text(folder, "src", "index.ts")
        .replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, "")
        .split(/^(?=export|import)/m)
        .map((statement) => statement.trim())
        .filter((statement) => statement !== "")
      for (const statement of statements) {
        expect(statement).toMatch(/^export( type)? (\*( as \w+)?|\{[^}]*\})( from "[^"]+")?$/)
      }
    })

    it("test: has its own tsconfig.json", () => {
      expect(json(folder, "test", "tsconfig.json").references).toEqual(
        expect.arrayContaining([{ path: ".." }])
      )
    })
  }
)

describe("the repo", () => {
  it("tsconfig.json refers to every project", () => {
    const referred = json("tsconfig.json").references.map(({ path }: { path: string }) => path)
    const projects = members()
      .flatMap(({ folder }) => [folder, `${folder}/test`])
      .filter((folder) => existsSync(join(root, folder, "tsconfig.json")))
    expect(referred).toEqual(expect.arrayContaining(projects))
  })

  it("publishes all packages together, under one version", () => {
    expect(json(".changeset", "config.json").fixed).toEqual([["@varve/*"]])
    expect(new Set(packages().map(({ manifest }) => manifest.version)).size).toBe(1)
  })
})
