import Module from "node:module"
import { ConfigError, createMemory } from "@varve/core"
import * as Effect from "effect/Effect"
import * as fc from "fast-check"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { pathToFileURL } from "node:url"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { load } from "../src/load.ts"

let host: string

/** A host with plugins of its own: no package of ours is there. */
const files: Record<string, string> = {
  "node_modules/plain/package.json": `{ "name": "plain", "main": "index.cjs" }`,
  "node_modules/plain/index.cjs": `exports.summarizer = () => () => { throw new Error("not asked") }`,
  "node_modules/@acme/esm/package.json": `{
    "name": "@acme/esm", "type": "module",
    "exports": { ".": { "types": "./x.d.ts", "import": "./main.js" }, "./sub": { "import": "./sub.js" }, "./closed": null }
  }`,
  "node_modules/@acme/esm/main.js": `
    export const made = []
    export default (options) => { made.push(options); return () => { throw new Error("not asked") } }
    export const other = () => {}
    export const nested = { inner: (...args) => () => args }
    export const text = "no function"`,
  "node_modules/@acme/esm/sub.js": `export const only = () => () => "sub"`,
  "node_modules/broken/package.json": `{ "name": "broken", "type": "module", "exports": "./main.js" }`,
  "node_modules/broken/main.js": `throw new Error("broken inside")`,
  "node_modules/strict/package.json": `{ "name": "strict", "type": "module", "exports": "./main.js" }`,
  "node_modules/strict/main.js": `
    const wrong = (path) => Object.assign(new Error("wrong"), {
      [Symbol.for("varve/error")]: true, _tag: "ConfigError", issues: [{ path, given: "0", allowed: "more" }]
    })
    export const strict = () => { throw wrong("strict.list[2].size") }
    export const elsewhere = () => { throw wrong("other.size") }
    export const thrower = () => { throw new TypeError("no such thing") }`,
  "own.js": `export const own = (options) => ({ ...options, load() {}, append() {}, replace() {} })`
}

beforeAll(() => {
  // Some ways to start the tests tell Node of a folder that holds every package of the repo.
  delete process.env["NODE_PATH"]
  ;(Module as unknown as { _initPaths: () => void })._initPaths()
  host = mkdtempSync(join(tmpdir(), "varve-config-"))
  for (const [name, text] of Object.entries({ ...files, "package.json": `{ "type": "module" }` })) {
    mkdirSync(dirname(join(host, name)), { recursive: true })
    writeFileSync(join(host, name), text)
  }
})
afterAll(() => rmSync(host, { recursive: true, force: true }))

const errorOf = async (json: unknown): Promise<ConfigError> => {
  const error: unknown = await load(json, { from: host }).then(
    () => undefined,
    (error: unknown) => error
  )
  expect(error).toBeInstanceOf(ConfigError)
  return error as ConfigError
}
const pathsOf = async (json: unknown) => (await errorOf(json)).issues.map(({ path }) => path)
const agent = (policy: object) => ({ agents: { browser: policy } })

const guard = { use: "@varve/core", export: "hardLimit" }
const steps = (options: object) => ({ use: "@varve/core", export: "stepMemory", with: options })

describe("what is loaded", () => {
  it("is what defineAgents makes: pipeline, budget, commit, store, sub-agents", async () => {
    const agents = await load(
      {
        $schema: "./node_modules/@varve/config/schema.json",
        defaults: { budget: { images: 9 }, commit: { rule: "batched", size: 3 } },
        agents: {
          browser: {
            pipeline: [steps({ recentTokens: 200 }), guard],
            budget: { tokens: 5000 },
            store: { use: "./own.js", with: { mark: 1 } },
            subagents: { reader: { pipeline: [guard], protectLast: 1 } }
          }
        }
      },
      { from: host }
    )
    expect(agents.names).toEqual(["browser", "browser/reader"])
    const reader = agents.options("browser/reader", { session: "s" })
    expect(reader).toMatchObject({
      budget: { images: 9, tokens: 5000 },
      protectLast: 1,
      agent: "browser.reader",
      store: { mark: 1 }
    })
    expect((reader.pipeline as ReadonlyArray<{ name: string }>).map(({ name }) => name)).toEqual([
      "hardLimit"
    ])
    expect(reader.commit).toBeTypeOf("function")
    const { store: _, ...options } = agents.options("browser", { session: "s" })
    const memory = createMemory(options)
    const { report } = await memory.prepare([{ role: "user", content: "Hello" }])
    expect(report.strategies.map(({ name }) => name)).toEqual(["stepMemory"])
    expect(report.unguarded).toBe(false)
    await memory.close()
  })

  it("has the step memory where the file says, and no other place than there are", async () => {
    const json = (place: string) => ({ agents: { browser: { pipeline: [steps({ place })] } } })
    const agents = await load(json("tail"), { from: host })
    const memory = createMemory(agents.options("browser", { session: "s" }))
    memory.steps.begin({ id: "s1", goal: "open the menu" })
    const { messages, report } = await memory.prepare([{ role: "user", content: "Hello" }])
    expect(report.tail?.at).toBe(0)
    expect(JSON.stringify(messages)).toContain("open the menu")
    await memory.close()
    const { issues } = await errorOf(json("middle"))
    expect(issues.map(({ path }) => path)).toEqual(["agents.browser.pipeline[0].with.place"])
  })

  it("each memory's parts are its own", async () => {
    const agents = await load(
      agent({ pipeline: [steps({ summarizer: { use: "@acme/esm", with: { a: 1 } } })] }),
      { from: pathToFileURL(join(host, "main.js")) }
    )
    const { made } = (await import(
      pathToFileURL(join(host, "node_modules/@acme/esm/main.js")).href
    )) as { readonly made: Array<object> }
    made.length = 0
    const [one, two] = [1, 2].map(() => agents.options("browser", { session: "s" }))
    expect(made).toEqual([{ a: 1 }, { a: 1 }])
    expect(made[0]).not.toBe(made[1])
    expect((one!.pipeline as Array<unknown>)[0]).not.toBe((two!.pipeline as Array<unknown>)[0])
  })

  it("finds CommonJS, packages that only `import` may open, sub-paths, namespaces and `default`", async () => {
    const uses = [
      { use: "plain" },
      { use: "@acme/esm" },
      { use: "@acme/esm/sub" },
      { use: "@acme/esm", export: "nested.inner", with: ["in", { order: true }] }
    ]
    for (const from of [
      host,
      pathToFileURL(join(host, "x.js")),
      pathToFileURL(join(host, "x.js")).href
    ]) {
      for (const summarizer of uses) await load(agent({ summarizer }), { from })
    }
  })

  it("#summarizer stands for the agent's own, and for none where it has none", async () => {
    const pipeline = [steps({ summarizer: { use: "#summarizer" } })]
    await load(
      { defaults: { pipeline }, agents: { one: { summarizer: { use: "plain" } }, two: {} } },
      { from: host }
    )
    expect(await pathsOf(agent({ summarizer: { use: "#summarizer" } }))).toEqual([
      "agents.browser.summarizer.use"
    ])
  })
})

describe("plugins that are not there", () => {
  it("give the command that installs them, all at once", async () => {
    const { issues, message } = await errorOf({
      defaults: { profile: "anthropic/claude-opus-5.5" },
      agents: {
        browser: { pipeline: [{ use: "@varve/strategy-screenshot-prune" }] },
        coder: { pipeline: [guard, steps({ summarizer: { use: "nowhere/deep/file" } })] }
      }
    })
    expect(issues.map(({ path, allowed }) => [path, allowed])).toEqual([
      ["defaults.profile", "an installed package: npm install @varve/profiles"],
      [
        "agents.browser.pipeline[0].use",
        "an installed package: npm install @varve/strategy-screenshot-prune"
      ],
      ["agents.coder.pipeline[1].with.summarizer.use", "an installed package: npm install nowhere"]
    ])
    expect(message).toContain("npm install @varve/strategy-screenshot-prune")
  })

  it("are told from files, closed paths, Node's modules and plugins that break", async () => {
    const cases: ReadonlyArray<readonly [use: string, given: RegExp]> = [
      ["./nowhere.js", /was not found/],
      ["@acme/esm/closed", /does not export/],
      ["plain/nowhere.js", /does not export/],
      ["fs", /Node's own/],
      ["broken", /failed to load \(broken inside\)/]
    ]
    for (const [use, given] of cases) {
      const { issues } = await errorOf(agent({ store: { use } }))
      expect(issues).toHaveLength(1)
      expect(issues[0]!.path).toBe("agents.browser.store.use")
      expect(issues[0]!.given).toMatch(given)
      expect(issues[0]!.allowed).not.toContain("npm install")
    }
  })

  it("no address of the web, no absolute path, no command", async () => {
    for (const use of [
      "https://x.y/z.js",
      "data:text/javascript,1",
      "node:fs",
      "/etc/x.js",
      "a; rm b",
      "file:///x"
    ]) {
      expect(await pathsOf(agent({ store: { use } }))).toEqual(["agents.browser.store.use"])
    }
  })

  it("an export that is no function lists those that are", async () => {
    const { issues } = await errorOf(agent({ store: { use: "@acme/esm", export: "text" } }))
    expect(issues[0]).toMatchObject({
      path: "agents.browser.store.export",
      given: '"text"',
      allowed: "a function of @acme/esm, as default, other"
    })
    expect(await pathsOf(agent({ pipeline: [{ use: "@varve/core" }] }))).toEqual([
      "agents.browser.pipeline[0].export"
    ])
    expect(
      await pathsOf(agent({ store: { use: "@acme/esm", export: "nested.constructor" } }))
    ).toEqual(["agents.browser.store.export"])
  })
})

describe("wrong options", () => {
  const name = fc.stringMatching(/^[A-Za-z][A-Za-z0-9_-]{0,5}$/)

  it("have their full path, wherever the plugin stands", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(name, { minLength: 1, maxLength: 3 }),
        fc.nat(3),
        async (names, before) => {
          const filler = Array.from({ length: before }, (_, i) =>
            i === 0
              ? guard
              : { use: "@varve/core", export: "Policy.inOrder", with: [`p${i}`, guard] }
          )
          const policy = {
            pipeline: [...filler, steps({ recentTokens: 0, summarizer: { use: "plain" } })]
          }
          const agents = names.reduceRight<Record<string, unknown>>(
            (inner, key, i) => ({ [key]: i === names.length - 1 ? policy : { subagents: inner } }),
            {}
          )
          expect(await pathsOf({ agents })).toEqual([
            `agents.${names.join(".subagents.")}.pipeline[${before}].with.recentTokens`
          ])
        }
      ),
      { numRuns: 30 }
    )
  })

  it("of plugins inside of options, of other names, and what a plugin throws", async () => {
    const inner = (use: object) => agent({ pipeline: [steps({ summarizer: use })] })
    const at = "agents.browser.pipeline[0].with.summarizer.with"
    expect(await pathsOf(inner({ use: "strict", export: "strict" }))).toEqual([
      `${at}.list[2].size`
    ])
    expect(await pathsOf(inner({ use: "strict", export: "elsewhere" }))).toEqual([`${at}.size`])
    const { issues } = await errorOf(inner({ use: "strict", export: "thrower", with: { a: 1 } }))
    expect(issues).toEqual([
      {
        path: at,
        given: "an object with a",
        allowed: "what strict takes (it threw: no such thing)"
      }
    ])
  })

  it("of arguments in a list, and of exports with dots", async () => {
    const strict = { use: "strict", export: "strict" }
    const summarizer = { use: "@acme/esm", export: "nested.inner", with: ["in", [strict]] }
    expect(await pathsOf(agent({ summarizer }))).toEqual([
      "agents.browser.summarizer.with[1][0].with.list[2].size"
    ])
    const commit = { use: "@varve/core", export: "Commit.batched", with: { size: 0 } }
    expect(await pathsOf(agent({ commit }))).toEqual(["agents.browser.commit.with.size"])
  })

  it("of a place with several shapes, are those of the shape that is meant", async () => {
    expect(await pathsOf(agent({ commit: { rule: "batched", size: 0 } }))).toEqual([
      "agents.browser.commit.size"
    ])
    expect(await pathsOf(agent({ commit: { rule: "never" } }))).toEqual([
      "agents.browser.commit.rule"
    ])
    expect(await pathsOf(agent({ commit: null }))).toEqual(["agents.browser.commit.rule"])
    expect(await pathsOf(agent({ profile: { use: "plain", width: 1 } }))).toEqual([
      "agents.browser.profile.width"
    ])
    expect(await pathsOf(agent({ profile: { model: 3 } }))).toContain(
      "agents.browser.profile.model"
    )
  })

  it("of the file itself: unknown fields, wrong types, a plugin inside of options", async () => {
    expect(await pathsOf({ agents: { a: { piepline: [] } }, extra: 1 })).toEqual([
      "extra",
      "agents.a.piepline"
    ])
    expect(await pathsOf("text")).toEqual(["json"])
    expect(await pathsOf({ agents: { "a/b": {} } })).toEqual(["agents.a/b"])
    expect(await pathsOf(agent({ pipeline: [steps({ summarizer: { use: 3 } })] }))).toEqual([
      "agents.browser.pipeline[0].with.summarizer.use"
    ])
  })

  it("what is no JSON, and no place to look from, is refused", async () => {
    const cycle: Record<string, unknown> = {}
    cycle["agents"] = cycle
    for (const json of [cycle, undefined, 1n, () => {}])
      expect(await pathsOf(json)).toEqual(["json"])
    for (const from of [undefined, 3, "file://host%/x", new URL("https://x.y/z")]) {
      await expect(load({ agents: {} }, { from: from as string })).rejects.toMatchObject({
        issues: [{ path: "from" }]
      })
    }
    await expect(load({ agents: {} }, undefined as never)).rejects.toBeInstanceOf(ConfigError)
  })

  it("any JSON is loaded or refused with a ConfigError", async () => {
    const json = fc.oneof(
      fc.jsonValue(),
      fc.record({ agents: fc.jsonValue() }),
      fc.record({ agents: fc.dictionary(name, fc.jsonValue()) }),
      fc.record({
        agents: fc.dictionary(
          name,
          fc.record(
            { pipeline: fc.array(fc.jsonValue()), commit: fc.jsonValue(), profile: fc.jsonValue() },
            { requiredKeys: [] }
          )
        )
      })
    )
    await fc.assert(
      fc.asyncProperty(json, async (given) => {
        const exit = await Effect.runPromiseExit(
          Effect.tryPromise({ try: () => load(given, { from: host }), catch: (error) => error })
        )
        if (exit._tag === "Failure") expect(String(exit.cause)).toContain("ConfigError")
      }),
      { numRuns: 200 }
    )
  })
})
