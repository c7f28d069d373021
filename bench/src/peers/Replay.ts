import type { Message } from "@varve/core"
import type { Answer, Policy } from "@varve/simulator"
import { setupOf, standIn, type Input } from "./Inputs.ts"
import type { Peer } from "./Peer.ts"

/** What a policy sent for each request of a run, and what its calls of a model were. */
export type Recorded = ReadonlyArray<Pick<Answer, "messages" | "call"> | undefined>

const sumOf = (messages: ReadonlyArray<Message>, count: (message: Message) => number): number =>
  messages.reduce((sum, message) => sum + count(message), 0)

/** Runs a session through a peer. A request in which it failed is `undefined`, with its error beside. */
export const record = async (
  peer: Peer,
  input: Input
): Promise<{ readonly sent: Recorded; readonly errors: ReadonlyArray<string> }> => {
  const { summarize, calls } = standIn(input.counter)
  const setup = setupOf(input, summarize)
  const run = peer.start(setup)
  const sent: Array<Recorded[number]> = []
  const errors: Array<string> = []
  let seen = 0
  let tokens = 0
  let called = 0
  for (const { history } of input.trace.requests) {
    const fresh = history.slice(seen)
    seen = history.length
    tokens += sumOf(fresh, setup.count)
    try {
      const messages = run.write(await run.request(run.read(fresh), tokens))
      const own = calls.slice(called)
      called = calls.length
      const call = {
        read: 0,
        input: own.reduce((sum, c) => sum + c.input, 0),
        output: own.reduce((sum, c) => sum + c.output, 0)
      }
      sent.push(call.output > 0 ? { messages, call } : { messages })
      tokens = sumOf(messages, setup.count)
    } catch (error) {
      errors.push(error instanceof Error ? error.message : String(error))
      sent.push(undefined)
    }
  }
  return { sent, errors }
}

/** A recorded run as a policy, to be billed on any price sheet. A request that failed sends all there is. */
export const replayed = (name: string, recorded: Recorded): Policy => ({
  name,
  start: () => {
    let at = 0
    return {
      prepare: async (history) => ({
        ...(recorded[at++] ?? { messages: history }),
        reasoningLost: 0
      }),
      close: async () => {}
    }
  }
})
