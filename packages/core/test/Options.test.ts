import { decodeOptions, functionOption, Positive, Share } from "@varve/core/Options"
import { ConfigError } from "@varve/core/VarveError"
import * as Schema from "effect/Schema"
import { describe, expect, it } from "vitest"

const Options = Schema.Struct({
  keep: Schema.optional(Positive),
  share: Schema.optional(Share),
  mode: Schema.optional(Schema.Literals(["a", "b"])),
  f: Schema.optional(functionOption<() => number>()),
  nested: Schema.optional(Schema.Struct({ list: Schema.Array(Schema.String) })),
  either: Schema.optional(Schema.Union([Schema.String, Schema.Int]))
})

const issues = (schema: Schema.ConstraintDecoder<unknown>, options: unknown) => {
  try {
    decodeOptions(schema, options, "made")
  } catch (error) {
    if (error instanceof ConfigError) return error.issues
    throw error
  }
  return []
}

describe("decodeOptions", () => {
  it("gives the options, and an empty object for nothing", () => {
    const f = () => 1
    expect(decodeOptions(Options, { keep: 3, f }, "made")).toEqual({ keep: 3, f })
    expect(decodeOptions(Options, undefined, "made")).toEqual({})
    expect(decodeOptions(Options, { keep: undefined }, "made").keep).toBe(undefined)
  })

  it("names every wrong option with its path, what was given and what is allowed", () => {
    expect(
      issues(Options, {
        keep: 0,
        share: 2,
        mode: "c",
        f: 5,
        nested: { list: ["a", 1] },
        either: true
      })
    ).toEqual([
      { path: "made.keep", given: "0", allowed: "a value greater than 0" },
      { path: "made.share", given: "2", allowed: "a value between 0 (excluded) and 1" },
      { path: "made.mode", given: '"c"', allowed: '"a" | "b"' },
      { path: "made.f", given: "5", allowed: "a function" },
      { path: "made.nested.list[1]", given: "1", allowed: "string" },
      { path: "made.either", given: "true", allowed: "string | number" }
    ])
  })

  it("quotes no text under a name that may be a secret's", () => {
    const Keys = Schema.Struct({ apiKey: Schema.optional(Schema.Int) })
    expect(issues(Keys, { apiKey: "sk-1", apikey: "sk-2", targetTokens: 5 })).toMatchObject([
      { path: "made.apikey", given: "a string" },
      { path: "made.targetTokens", given: "5" },
      { path: "made.apiKey", given: "a string" }
    ])
  })

  it("refuses unknown keys and lists the known ones", () => {
    expect(issues(Options, { kep: 3 })).toEqual([
      {
        path: "made.kep",
        given: "3",
        allowed: "one of the options keep, share, mode, f, nested, either"
      }
    ])
  })

  it("names what is missing, and options that are no object", () => {
    expect(issues(Schema.Struct({ name: Schema.String }), {})).toEqual([
      { path: "made.name", given: "undefined", allowed: "a value: this option is required" }
    ])
    for (const wrong of [null, 3, "x", []]) expect(issues(Options, wrong)[0]?.path).toBe("made")
  })

  it("tells NaN, fractions and numbers as text from numbers", () => {
    for (const keep of [NaN, 1.5, "3", Infinity, -1, null]) {
      expect(issues(Options, { keep }).length).toBeGreaterThan(0)
    }
  })
})
