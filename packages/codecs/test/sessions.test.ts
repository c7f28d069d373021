import { createMemory, defaultProfile, hardLimit } from "@varve/core"
import { requireData } from "@varve-examples/session-readers/Data"
import { sessions } from "@varve-examples/session-readers/Sessions"
import { randomStrategy } from "@varve/testkit/Strategies"
import { describe, expect, it } from "vitest"
import type { Host } from "./hosts.ts"
import { hosts } from "./hosts.ts"
import { logs } from "./logs.ts"
import { brief, seal } from "./seal.ts"

type Json = Record<string, any>

const hostOf = (name: string): Host => hosts.find((host) => host.name === name)!

/** Marks that the host set itself are the host's to count; Cline keeps files and data in blocks of its own. */
const relevant = (fault: string): boolean =>
  !/^(marks|a block of type (file|undefined)$)/.test(fault)

const expectIdentity = ({ codec }: Host, request: ReadonlyArray<Json>): void => {
  const neutral = codec.read(request)
  const back = codec.write(neutral)
  expect(back.length).toBe(request.length)
  back.forEach((message, i) => expect(message === request[i]).toBe(true))
  codec.read(request).forEach((message, i) => expect(message === neutral[i]).toBe(true))
}

/** Runs a session through a memory that is far too small, and checks what is sent at each prefix. */
const expectValid = async (
  host: Host,
  prefixes: ReadonlyArray<ReadonlyArray<Json>>,
  tokens: number
): Promise<{ sent: number; own: number }> => {
  const memory = createMemory({
    pipeline: [randomStrategy({ name: "some", temper: "sane", seed: 7 }), hardLimit()],
    budget: { tokens, images: 3 },
    profile: { ...defaultProfile, startsWithUser: host.startsWithUser, reasoning: "error" }
  })
  let sent = 0
  let own = 0
  for (const request of prefixes) {
    const { messages, report } = await host.codec.prepare(memory, request)
    expect(report.over).toEqual([])
    expect(report.faults).toEqual([])
    const found = host.faults(messages, request).filter(relevant)
    if (found.length > 0) throw new Error(brief({ found, messages }).slice(0, 20_000))
    const given = new Set<unknown>(request)
    sent += messages.length
    own += messages.filter((message) => given.has(message)).length
  }
  await memory.close()
  return { sent, own }
}

/** Prefixes of about these shares that end where a request may be made. */
const prefixesOf = (request: ReadonlyArray<Json>, isAnswer: (message: Json) => boolean) =>
  [0.2, 0.4, 0.6, 0.8, 1].map((share) => {
    let end = Math.round(request.length * share)
    while (end < request.length && !isAnswer(request[end]!)) end++
    while (end > 1 && isAnswer(request[end - 1]!)) end--
    return request.slice(0, end)
  })

const isAnswer = (message: Json): boolean =>
  message.role === "assistant" ||
  (message.role === undefined && !String(message.type).endsWith("_output"))

describe.skipIf(!requireData("codecs"))("real sessions", () => {
  it.each(logs.map((log) => [log.name, log] as const))(
    "%s: what was read is written back as the same objects",
    (_, log) => {
      const request = seal(log.read())
      expect(request.length).toBeGreaterThan(3)
      expectIdentity(hostOf(log.host), request)
    }
  )

  it.each(logs.map((log) => [log.name, log] as const))(
    "%s: with a budget that is far too small, every request is valid",
    async (_, log) => {
      const request = seal(log.read())
      await expectValid(hostOf(log.host), prefixesOf(request, isAnswer), 12_000)
    },
    60_000
  )

  describe.each(hosts.map((host) => [host.name, host] as const))(
    "in the shape of %s",
    (_, host) => {
      it.each(sessions().map((entry) => [entry.name, entry] as const))(
        "%s: read and written, and valid with a small budget",
        async (_, entry) => {
          const { messages } = entry.read()
          const last = messages.findLastIndex((message) => message.role !== "assistant")
          const steps = host.make(messages.slice(0, last + 1) as any, 5).map((step) => seal(step))
          const request = steps.flat() as ReadonlyArray<Json>
          expectIdentity(host, request)
          const prefixes = [0.3, 0.6, 1].map((share) =>
            steps.slice(0, Math.max(1, Math.round(steps.length * share))).flat()
          )
          await expectValid(host, prefixes, 12_000)
        },
        60_000
      )
    }
  )
})
