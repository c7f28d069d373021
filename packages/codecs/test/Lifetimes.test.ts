import { convertPromptToAnthropic } from "@langchain/anthropic"
import { coerceMessageLikeToMessage } from "@langchain/core/messages"
import type { BaseMessageLike } from "@langchain/core/messages"
import { ChatPromptValue } from "@langchain/core/prompt_values"
import { createMemory, defaultProfile, Edit, hardLimit } from "@varve/core"
import { strategy } from "@varve/core/Strategy"
import { histories } from "@varve/testkit/Histories"
import { randomStrategy, strategyPlans } from "@varve/testkit/Strategies"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { eachRequest } from "./eachRequest.ts"
import { hosts } from "./hosts.ts"
import { brief, seal } from "./seal.ts"

type Json = Record<string, any>
type Mark = { readonly ttl?: string; readonly host?: true } & Json

const listOf = (value: unknown): ReadonlyArray<Json> =>
  (Array.isArray(value) ? value : []).filter((v) => typeof v === "object" && v !== null)

const isReasoning = ({ type }: Json): boolean => /thinking|reasoning/.test(type)

/** What may hold a mark of Anthropic's in a message: its blocks, and those inside, which stand before their end. */
const blocksIn = (message: Json, ownFirst = false): ReadonlyArray<Json> =>
  listOf(message.content).flatMap((block) => {
    const inside = blocksIn(block, ownFirst)
    return ownFirst ? [block, ...inside] : [...inside, block]
  })

const marksIn = (messages: ReadonlyArray<Json>, ownFirst = false): ReadonlyArray<Mark> =>
  messages.flatMap((m) =>
    blocksIn(m, ownFirst).flatMap(({ cache_control: mark }) => (mark ? [mark] : []))
  )

const sdkMark = (holder: Json | undefined): Mark | undefined =>
  holder?.providerOptions?.anthropic?.cacheControl

/** As the AI SDK's provider for Anthropic reads them: a part's, an output's, else the message's on its last part. */
const sdkMarksIn = (messages: ReadonlyArray<Json>): ReadonlyArray<Mark> =>
  messages
    .flatMap((message) => {
      const parts = Array.isArray(message.content) ? listOf(message.content) : [{}]
      return parts.map((part: Json, i) => {
        const inside = listOf(part.output?.value).find((v) => v.providerOptions !== undefined)
        const output = part.output?.providerOptions === undefined ? inside : part.output
        return (
          sdkMark(part) ??
          sdkMark(output) ??
          (i === parts.length - 1 ? sdkMark(message) : undefined)
        )
      })
    })
    .filter((mark) => mark !== undefined)

/** As LangChain's own converter sends them: not those of all blocks. */
const langChainMarksIn: Reading = (messages) => {
  const list = messages.map((m) => coerceMessageLikeToMessage(m as BaseMessageLike))
  const { messages: sent, system } = convertPromptToAnthropic(new ChatPromptValue(list))
  return marksIn([{ content: system ?? [] }, ...(sent as ReadonlyArray<Json>)])
}

type Reading = (messages: ReadonlyArray<Json>) => ReadonlyArray<Mark>

interface Shape {
  readonly name: string
  /** The marks in order, as the provider may read them. */
  readonly readings: readonly [Reading, ...ReadonlyArray<Reading>]
  /** What a host may put a mark on, in that order. */
  readonly holdersIn: (message: Json) => ReadonlyArray<Json>
  readonly put: (holder: Json, mark: Mark | undefined) => void
}

const putControl = (holder: Json, mark: Mark | undefined): void => {
  delete holder.cache_control
  if (mark !== undefined) holder.cache_control = mark
}

const shapes: ReadonlyArray<Shape> = [
  {
    name: "anthropic",
    readings: [(m) => marksIn(m), (m) => marksIn(m, true)],
    holdersIn: (m) => blocksIn(m),
    put: putControl
  },
  {
    name: "ai-sdk",
    readings: [sdkMarksIn],
    holdersIn: (message) => [
      ...listOf(message.content).flatMap((part) => {
        const { output } = part
        return output === undefined
          ? [part]
          : [
              part,
              ...(listOf(output.value).length > 0 ? listOf(output.value).slice(0, 1) : [output])
            ]
      }),
      message
    ],
    put: (holder, mark) => {
      const { anthropic: _, ...rest } = holder.providerOptions ?? {}
      delete holder.providerOptions
      if (mark !== undefined)
        holder.providerOptions = { ...rest, anthropic: { cacheControl: mark } }
      else if (Object.keys(rest).length > 0) holder.providerOptions = rest
    }
  },
  {
    name: "langchain",
    readings: [(m) => marksIn(m), langChainMarksIn],
    holdersIn: (m) => blocksIn(m),
    put: putControl
  }
]

const isLong = (mark: Mark): boolean => mark.ttl === "1h"

/** A longer one behind a shorter: Anthropic refuses the request. */
const isInOrder = (marks: ReadonlyArray<Mark>): boolean =>
  marks.every((mark, i) => i === 0 || !isLong(mark) || isLong(marks[i - 1]!))

const clock = strategy("clock", (view) => [
  Edit.proposal("it is later", [
    Edit.memo("clock", `[Reference: request ${view.messages.length}]`, { cap: 40, tail: true })
  ])
])

const history = histories({ inFlight: false, startsWithUser: true, turns: 3, steps: 4 })

const ways = fc.record({
  seed: fc.nat(),
  /** Lifetimes of the host's marks, of which the longer ones stand first. */
  ttls: fc.array(fc.constantFrom(undefined, "5m", "1h", "1h"), { maxLength: 4 }),
  /** How many of them stand in tools and system text, and whether the last is one for the whole request. */
  beside: fc.nat({ max: 2 }),
  hasAutomatic: fc.boolean(),
  places: fc.array(fc.nat(), { minLength: 4, maxLength: 4 }),
  wanted: fc.option(fc.array(fc.nat(), { maxLength: 5 }), { nil: true as const }),
  hasTail: fc.boolean(),
  plans: strategyPlans({ tempers: ["sane"], most: 2 }),
  tokens: fc.integer({ min: 100, max: 6000 })
})

describe.each(shapes.map((shape) => [shape.name, shape] as const))("%s", (name, shape) => {
  const { codec, make, startsWithUser } = hosts.find((host) => host.name === name)!

  it("a request that Anthropic would take by its host's marks is one with ours", async () => {
    let withLonger = 0
    await fc.assert(
      fc.asyncProperty(history, ways, async (messages, way) => {
        const steps = make(messages, way.seed) as ReadonlyArray<ReadonlyArray<Json>>
        const marks = way.ttls
          .toSorted((a, b) => Number(b === "1h") - Number(a === "1h"))
          .map((ttl): Mark => ({ type: "ephemeral", host: true, ...(ttl ? { ttl } : {}) }))
        const beside = marks.splice(0, way.beside)
        const automatic = way.hasAutomatic ? marks.pop() : undefined
        const holders = steps.flat().flatMap(shape.holdersIn)
        for (const holder of holders) shape.put(holder, undefined)
        const free = holders
          .map((holder, at) => ({ holder, at }))
          .filter(
            ({ holder }) => !isReasoning(holder) && holder.text !== "" && holder.role !== "system"
          )
        const at = [...new Set(way.places.map((n) => n % Math.max(1, free.length)))]
        at.slice(0, marks.length)
          .toSorted((a, b) => a - b)
          .forEach((n, i) => free[n] && shape.put(free[n].holder, marks[i]))
        const [tool, system] = beside.map((mark, i) => {
          const holder = i === 0 ? { name: "look" } : { type: "text", text: "Be brief." }
          shape.put(holder, mark)
          return holder as any
        })
        const memory = createMemory({
          pipeline: [
            ...(way.hasTail ? [clock] : []),
            ...way.plans.map(randomStrategy),
            hardLimit()
          ],
          budget: { tokens: way.tokens },
          profile: {
            ...defaultProfile,
            startsWithUser,
            cache: { ...defaultProfile.cache, kind: "marks" }
          }
        })
        const { wanted } = way
        const options = {
          ...(system === undefined ? {} : { system: [system] }),
          ...(tool === undefined ? {} : { tools: [tool] }),
          automatic,
          marks:
            wanted === true
              ? (true as const)
              : (view: ReadonlyArray<unknown>) => wanted.map((n) => n % view.length)
        }
        await eachRequest(seal(steps), async (request) => {
          const whole = (marks: ReadonlyArray<Mark>): ReadonlyArray<Mark> => [
            ...beside,
            ...marks,
            ...(automatic === undefined ? [] : [automatic])
          ]
          const out = (await codec.prepare(memory, request, options)).messages as Array<Json>
          const sent = whole(shape.readings[0](out))
          const found: Array<string> = []
          if (sent.length > 4) found.push(`${sent.length} marks`)
          for (const marksOf of shape.readings)
            if (isInOrder(whole(marksOf(request))) && !isInOrder(whole(marksOf(out))))
              found.push("a longer one behind a shorter")
          sent.forEach((mark, i) => {
            const behind = sent.slice(i + 1).filter(({ host }) => host === true)
            const isBare = !behind.some(isLong)
            if (mark.host !== true && isBare === isLong(mark)) found.push(`${i} lives ${mark.ttl}`)
            if (mark.host !== true && !isBare) withLonger++
          })
          const text = JSON.stringify(out)
          const tail = text.lastIndexOf("[End of the memo]")
          // One that is not the host's.
          if (tail >= 0 && /\{"type":"ephemeral"(?:,"ttl":"\w+")?\}/.test(text.slice(tail)))
            found.push("a mark on the tail")
          if (found.length > 0)
            throw new Error(brief({ found, sent, automatic, beside, out, request }))
        })
        await memory.close()
      }),
      { numRuns: 200 }
    )
    // The law is about these.
    expect(withLonger).toBeGreaterThan(20)
  }, 60_000)
})
