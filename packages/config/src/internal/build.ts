import { Budget } from "@varve/core/Budget"
import type { MemoryOptions } from "@varve/core/Memory"
import { decodeOptions } from "@varve/core/Options"
import * as Pipeline from "@varve/core/Pipeline"
import { Profile as ProfileSchema } from "@varve/core/Profile"
import type { Profile } from "@varve/core/Profile"
import { ConfigError, show } from "@varve/core/VarveError"
import type { AgentConfig, Parts, Preset } from "../AgentConfig.ts"
import type { DefineOptions } from "../defineAgents.ts"
import { within } from "./within.ts"

/** A policy and where it stands. */
export interface Layer {
  readonly path: string
  readonly config: AgentConfig
}

/** Where a value comes from, and what makes it. */
interface Source {
  readonly path: string
  readonly make: () => unknown
}

type Field = keyof Preset | "store"

const presetFields: ReadonlyArray<keyof Preset> = [
  "pipeline",
  "budget",
  "profile",
  "counter",
  "commit",
  "protectLast",
  "strategyTimeout"
]

const isObject = (u: unknown): u is object => typeof u === "object" && u !== null

const refuse = (path: string, value: unknown, allowed: string): never => {
  throw new ConfigError([{ path, given: show(value), allowed }])
}

/** The options of one memory: each layer over the one before. Throws `ConfigError`. */
export const build = (
  layers: ReadonlyArray<Layer>,
  profiles: DefineOptions["profiles"]
): Omit<MemoryOptions, "session" | "agent"> => {
  const parts: Parts = { summarizer: summarizerOf(layers) }
  const preset = layers.findLastIndex(({ config }) => config.preset !== undefined)
  const sources = new Map<Field, Source>()
  const budgets: Array<Source> = []
  const put = (field: Field, source: Source): void =>
    void (field === "budget" ? budgets.push(source) : sources.set(field, source))

  layers.forEach(({ path, config }, i) => {
    if (i === preset) {
      for (const [field, value] of fromPreset(`${path}.preset`, () => config.preset!(parts)))
        put(field, { path: `${path}.preset`, make: () => value })
    }
    const { pipeline, counter, commit, store, ...data } = config
    for (const [field, make] of Object.entries({ pipeline, counter, commit, store })) {
      if (make !== undefined)
        put(field as Field, { path: `${path}.${field}`, make: () => make(parts) })
    }
    for (const field of ["profile", "budget", "protectLast", "strategyTimeout"] as const) {
      const value = data[field]
      if (value !== undefined) put(field, { path: `${path}.${field}`, make: () => value })
    }
  })

  const out: Record<string, unknown> = {}
  for (const [field, { path, make }] of sources) {
    out[field] = check(field, path, within(path, make), profiles)
  }
  for (const { path, make } of budgets) {
    const budget = decodeOptions(Budget, make(), path)
    out["budget"] = { ...(out["budget"] as object | undefined), ...budget }
  }
  return out
}

const summarizerOf = (layers: ReadonlyArray<Layer>): Parts["summarizer"] => {
  const layer = layers.findLast(({ config }) => config.summarizer !== undefined)
  if (layer === undefined) return undefined
  const path = `${layer.path}.summarizer`
  const summarizer = within(path, layer.config.summarizer!)
  return typeof summarizer === "function"
    ? summarizer
    : refuse(path, summarizer, "a function that gives a summarizer")
}

const fromPreset = (path: string, make: () => Preset): ReadonlyArray<[keyof Preset, unknown]> => {
  const given = within(path, make)
  if (!isObject(given)) refuse(path, given, "an object with options, as a preset gives")
  return Object.entries(given).map(([key, value]) =>
    (presetFields as ReadonlyArray<string>).includes(key)
      ? [key as keyof Preset, value]
      : refuse(`${path}.${key}`, value, `one of the options ${presetFields.join(", ")}`)
  )
}

const check = (
  field: Field,
  path: string,
  value: unknown,
  profiles: DefineOptions["profiles"]
): unknown => {
  switch (field) {
    case "pipeline":
      return within(path, () => Pipeline.flatten(value as Pipeline.PipelineInput, path))
    case "profile":
      return profileOf(path, value, profiles)
    case "counter":
      return isObject(value) && ("start" in value || "message" in value)
        ? value
        : refuse(path, value, "a counter, as in tiktokenCounter()")
    case "commit":
      return typeof value === "function" ? value : refuse(path, value, "a commit rule")
    case "store":
      return isObject(value) && "load" in value && "append" in value && "replace" in value
        ? value
        : refuse(path, value, 'a store, as in fileStore("./memory")')
    default:
      return value
  }
}

const profileOf = (path: string, given: unknown, profiles: DefineOptions["profiles"]): Profile => {
  const profile =
    typeof given !== "string"
      ? given
      : profiles === undefined
        ? refuse(
            path,
            given,
            "a profile; for a name, give `profiles`: profile of @varve/profiles (npm install @varve/profiles)"
          )
        : within(path, () => profiles(given))
  if (!isObject(profile)) return refuse(path, profile, "a profile")
  const { classify: _, warning: __, ...data } = profile as Profile
  within(path, () => decodeOptions(ProfileSchema, data, path))
  return profile as Profile
}
