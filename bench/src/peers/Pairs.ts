import type { Block, Message } from "@varve/core"
import type { Run } from "./Peer.ts"

/** The parts of a message, a text as one part. */
export const blocksOf = (content: Message["content"]): ReadonlyArray<Block> =>
  typeof content === "string" ? [{ type: "text", text: content }] : content

/** The texts of some parts, one a line. */
export const textIn = (blocks: ReadonlyArray<Block>): string =>
  blocks.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n")

/**
 * Messages of a peer beside ours. What a peer passes on as it was comes back as the very same message of ours;
 * what it made anew goes through `convert`.
 */
export const pairs = <M extends object>(convert: (message: M) => Message) => {
  const known = new WeakMap<M, ReadonlyArray<Message>>()
  return {
    pair: (theirs: M, ...ours: ReadonlyArray<Message>): M => {
      known.set(theirs, ours)
      return theirs
    },
    write: (sent: ReadonlyArray<M>): ReadonlyArray<Message> =>
      sent.flatMap((theirs) => {
        let ours = known.get(theirs)
        if (ours === undefined) known.set(theirs, (ours = [convert(theirs)]))
        return ours
      })
  }
}

/** Messages in runs: results in a row belong to one message where a provider wants it so. */
export const withResultsJoined = (
  messages: ReadonlyArray<Message>
): ReadonlyArray<ReadonlyArray<Message>> => {
  const groups: Array<Array<Message>> = []
  for (const message of messages) {
    if (message.role === "toolResult" && groups.at(-1)?.[0]?.role === "toolResult")
      groups.at(-1)!.push(message)
    else groups.push([message])
  }
  return groups
}

/**
 * A peer whose host keeps the task, since the peer would not: the peer never gets the first message, which
 * stands before whatever it sends.
 */
export const withTask = <M>(run: Run<M>): Run<M> => {
  let task: M | undefined
  return {
    ...run,
    request: async (fresh, tokens) => {
      const rest = task === undefined ? fresh.slice(1) : fresh
      task ??= fresh[0]
      const sent = await run.request(rest, tokens)
      return task === undefined ? sent : [task, ...sent]
    }
  }
}
