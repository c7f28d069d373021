import { writeFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { afterEach, describe, expect, it, vi } from "vitest"
import { dataDir, hasData, requireData } from "../src/Data.ts"
import { session, sessions } from "../src/Sessions.ts"
import { inFolder } from "./samples.ts"

const root = resolve(import.meta.dirname, "../../..")

afterEach(() => {
  vi.unstubAllEnvs()
  vi.restoreAllMocks()
})

describe("dataDir", () => {
  it("is what VARVE_DATA says, seen from the root of the repo", () => {
    vi.stubEnv("VARVE_DATA", "some/where")
    expect(dataDir()).toBe(join(root, "some/where"))
    vi.stubEnv("VARVE_DATA", "/some/where")
    expect(dataDir()).toBe("/some/where")
    vi.stubEnv("VARVE_DATA", "")
    expect(dataDir()).toBe(resolve(root, "../shared/data"))
  })
})

describe("requireData", () => {
  it("is true where there are sessions, with CI or without, and says nothing", () => {
    inFolder((folder) => {
      const warn = vi.spyOn(console, "warn").mockReturnValue(undefined)
      writeFileSync(join(folder, "SESSIONS.tsv"), "file\n")
      vi.stubEnv("VARVE_DATA", folder)
      vi.stubEnv("CI", "1")
      expect([hasData(), requireData("x")]).toEqual([true, true])
      expect(warn).not.toHaveBeenCalled()
    })
  })

  it("is false without them and says in one line which tests are left out and what to set", () => {
    const warn = vi.spyOn(console, "warn").mockReturnValue(undefined)
    vi.stubEnv("VARVE_DATA", "/nowhere")
    vi.stubEnv("CI", "")
    expect([hasData(), requireData("the readers")]).toEqual([false, false])
    expect(warn.mock.calls).toEqual([
      [expect.stringMatching(/^Skipped.*the readers.*\/nowhere.*VARVE_DATA.*$/)]
    ])
  })

  it("throws without them where CI is set", () => {
    vi.stubEnv("VARVE_DATA", "/nowhere")
    vi.stubEnv("CI", "true")
    expect(() => requireData("the readers")).toThrow(/the readers.*\/nowhere.*VARVE_DATA/)
  })
})

describe("sessions", () => {
  it("lists what is there and reads nothing of it", () => {
    inFolder((folder) => {
      writeFileSync(join(folder, "ufo-4k"), "not even a folder")
      expect(sessions(folder).map(({ name }) => name)).toEqual(["ufo-4k"])
    })
    expect(sessions("/nowhere")).toEqual([])
  })

  it("says which names there are", () => {
    expect(() => session("Bookings", "/nowhere")).toThrow(
      'No session named "Bookings" in /nowhere. There are: none.'
    )
  })
})
