import {
  buildSessionContext,
  compact,
  convertToLlm,
  estimateTokens,
  shouldCompact
} from "@earendil-works/pi-coding-agent"
// Its session calls this; the package doesn't export it.
import { prepareCompaction } from "./node_modules/@earendil-works/pi-coding-agent/dist/core/compaction/index.js"
import type { Message } from "@varve/core"
import { pairs, withTask } from "../../src/peers/Pairs.ts"
import type { Peer } from "../../src/peers/Peer.ts"

const none = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }
const usage = { ...none, totalTokens: 0, cost: { ...none, total: 0 } }

/** Ours is its shape, but that contents are lists and usage is never missing. */
const theirs = (message: Message): any =>
  message.role === "assistant"
    ? {
        ...message,
        content:
          typeof message.content === "string"
            ? [{ type: "text", text: message.content }]
            : message.content,
        usage,
        stopReason: "toolUse",
        timestamp: 0
      }
    : { ...message, timestamp: 0 }

const compaction: Peer<any> = {
  name: "pi compaction",
  keeps: "summary",
  hook: "shouldCompact, prepareCompaction and compact of its session",
  settings:
    "contextWindow less reserveTokens: the mark in tokens, held against what a provider reports; keepRecentTokens: " +
    "before each compaction what so many newest messages have by its own estimate, so that it keeps these. The host keeps the " +
    "task, before what it sends.",
  lacks:
    "Its session would let the task go into the summary with the rest. Clips what the summary is made from to 2 000 characters a result.",
  start: ({ messages: keep, at, summarize }) => {
    const { pair, write } = pairs<any>((m) => ({ role: "user", content: m.content }))
    const settings = { enabled: true, reserveTokens: 0, keepRecentTokens: 1 }
    const entries: Array<any> = []
    let messages: Array<any> = []
    const add = (entry: any): void => {
      const parentId = entries.at(-1)?.id ?? null
      entries.push({ id: `e${entries.length}`, parentId, timestamp: "2026-01-01", ...entry })
    }
    const streamFn: any = async (_: unknown, context: any) => ({
      result: async () => ({
        role: "assistant",
        content: [{ type: "text", text: summarize(JSON.stringify(context)) }],
        usage,
        stopReason: "stop"
      })
    })
    return withTask({
      read: (fresh) => fresh.map((m) => pair(theirs(m), m)),
      write: (sent) => write(sent),
      request: async (fresh, tokens) => {
        for (const message of fresh) add({ type: "message", message })
        messages.push(...fresh)
        if (shouldCompact(tokens, at, settings)) {
          const newest = messages.slice(-keep)
          settings.keepRecentTokens = newest.reduce((sum, m) => sum + estimateTokens(m), 0)
          const prepared = prepareCompaction(entries, settings)
          if (prepared !== undefined) {
            const given = Array.from({ length: 5 }, () => undefined)
            const done = await compact(prepared, {} as any, ...given, streamFn)
            add({ type: "compaction", ...done })
            messages = convertToLlm(buildSessionContext(entries).messages) as Array<any>
          }
        }
        return messages.slice()
      }
    })
  },
  count: (messages) => messages.reduce((sum, m) => sum + estimateTokens(theirs(m)), 0)
}

/** What it does where no usage is reported: it estimates all messages. */
const unreported: Peer<any> = {
  ...compaction,
  name: "pi compaction, no usage reported",
  speedOnly: true,
  start: (setup) => {
    const run = compaction.start(setup)
    const all: Array<any> = []
    return {
      ...run,
      request: (fresh) => {
        all.push(...fresh)
        return run.request(
          fresh,
          all.reduce((sum, m) => sum + estimateTokens(m), 0)
        )
      }
    }
  },
  count: undefined
}

export const peers = [compaction, unreported]
