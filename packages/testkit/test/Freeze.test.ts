import { expect, it } from "vitest"
import { deepFreeze } from "../src/Freeze.ts"

it("freezes all that a value holds, cycles too, and gives it back", () => {
  const inner = { list: [{ text: "a" }] }
  const value: Record<string, unknown> = { inner, nothing: null }
  value["self"] = value
  expect(deepFreeze(value)).toBe(value)
  expect(() => (inner.list[0]!.text = "b")).toThrow(TypeError)
  expect(() => inner.list.push({ text: "c" })).toThrow(TypeError)
  expect(deepFreeze("text")).toBe("text")
})
