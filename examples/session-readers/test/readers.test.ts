import fc from "fast-check"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import type { Block, Message } from "../src/Message.ts"
import type { Session } from "../src/Session.ts"
import { SessionFileError } from "../src/SessionFileError.ts"
import { inFolder, PNG, SAMPLES, write, writeText } from "./samples.ts"

/** The paths of all values inside of a value, the value itself left out. */
const paths = (
  value: unknown,
  prefix: ReadonlyArray<string> = []
): ReadonlyArray<ReadonlyArray<string>> =>
  typeof value !== "object" || value === null
    ? []
    : Object.entries(value).flatMap(([key, inner]) => [
        [...prefix, key],
        ...paths(inner, [...prefix, key])
      ])

/** A copy with the value at a path replaced, or without it. */
const change = (value: unknown, [key, ...rest]: ReadonlyArray<string>, to: unknown): unknown => {
  if (key === undefined) return to
  const copy: Record<string, unknown> = Array.isArray(value)
    ? ([...value] as never)
    : { ...(value as object) }
  if (rest.length === 0 && to === undefined && !Array.isArray(value)) delete copy[key]
  else copy[key] = change(copy[key], rest, to ?? null)
  return copy
}

/** Values that JSON can hold and code trips over. */
const odd = fc.oneof(
  fc.jsonValue(),
  fc.constantFrom<unknown>({ toString: null }, "toString", "__proto__", [[]], [null], "", -1)
)

/** What a block must be for the code that works on it. */
const isSound = (block: Block): boolean => {
  if (block.type === "text") return typeof block.text === "string"
  // Images that aren't inline pass through in their own shape.
  if (block.type === "image" && !("source" in block)) {
    return typeof block.data === "string" && typeof block.mimeType === "string"
  }
  if (block.type === "thinking") return typeof block.thinking === "string"
  return (
    block.type !== "toolCall" || (typeof block.id === "string" && typeof block.name === "string")
  )
}

const blocksOf = ({ content }: Message): ReadonlyArray<Block> =>
  typeof content === "string" ? [] : content

const call = (session: Session) =>
  session.messages.flatMap(blocksOf).filter(({ type }) => type === "toolCall")

describe.each(SAMPLES)("$format", (sample) => {
  it("reads its sample", () => {
    const session = inFolder((folder) => sample.read(write(folder, sample)))
    expect(session.messages[0]?.role).toBe("user")
    expect(call(session).length).toBeGreaterThan(0)
    for (const { at } of session.requests) expect(session.messages[at]?.role).toBe("assistant")
  })

  it(
    "writes no value into an error, whatever is odd in the file, and throws nothing else",
    { timeout: 60_000 },
    () => {
      const all = paths(sample.json)
      fc.assert(
        fc.property(fc.constantFrom(...all), fc.option(odd, { nil: undefined }), (path, to) => {
          inFolder((folder) => {
            try {
              const session = sample.read(write(folder, sample, change(sample.json, path, to)))
              // pi's messages are passed on as they are.
              if (sample.format !== "Pi")
                expect(session.messages.flatMap(blocksOf).every(isSound)).toBe(true)
              for (const { at } of session.requests)
                expect(session.messages[at]?.role).toBe("assistant")
            } catch (error) {
              expect(error).toBeInstanceOf(SessionFileError)
              expect((error as SessionFileError).file.startsWith(folder)).toBe(true)
              expect((error as SessionFileError).message).not.toContain(PNG)
            }
          })
        }),
        { numRuns: 150 }
      )
    }
  )

  it("names the file and the line of what is not JSON", () => {
    inFolder((folder) => {
      const text = sample.lines ? '{"type":"user"' : '{\n"messages": 1\n"a": 2}'
      const path = writeText(folder, sample, "\n" + text)
      try {
        sample.read(path)
        expect.unreachable()
      } catch (error) {
        expect(error).toBeInstanceOf(SessionFileError)
        expect((error as SessionFileError).file).toBe(join(folder, sample.file))
        expect((error as SessionFileError).line).toBe(sample.lines ? 2 : 4)
      }
    })
  })

  it("says what is not there", () => {
    inFolder((folder) =>
      expect(() => sample.read(join(folder, "nothing"))).toThrow(SessionFileError)
    )
  })
})
