import { readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { requireData } from "@varve-examples/session-readers/Data"
import { SCREENSHOT_SEQUENCES, session } from "@varve-examples/session-readers/Sessions"

/** A session with screenshots, and where its requests were made. */
export interface Run {
  readonly name: string
  readonly messages: ReadonlyArray<unknown>
  readonly requests: ReadonlyArray<number>
  readonly images: number
}

interface Block {
  readonly type: string
  readonly file?: string
  readonly data?: string
}

interface Message {
  readonly role: string
  readonly content: string | ReadonlyArray<Block>
}

const imagesIn = (messages: ReadonlyArray<unknown>): number =>
  (messages as ReadonlyArray<Message>)
    .flatMap(({ content }) => (typeof content === "string" ? [] : content))
    .filter(({ type }) => type === "image").length

/** The project's own recording, its images read from beside it. */
export const ownRecording = (): Run => {
  const file = fileURLToPath(
    new URL("../../examples/gui-agent/recording/session.jsonl", import.meta.url)
  )
  const messages = readFileSync(file, "utf8")
    .split("\n")
    .filter((text) => text !== "")
    .map((text): { readonly message?: Message } => JSON.parse(text))
    .flatMap(({ message }) => (message === undefined ? [] : [message]))
    .map((message) => ({
      ...message,
      content:
        typeof message.content === "string"
          ? message.content
          : message.content.map((block) =>
              block.type === "image" && block.file !== undefined
                ? { ...block, data: readFileSync(join(dirname(file), block.file), "base64") }
                : block
            )
    }))
  const requests = messages.flatMap(({ role }, at) => (role === "assistant" && at > 0 ? [at] : []))
  return { name: "own recording", messages, requests, images: imagesIn(messages) }
}

/** The own recording, and the six real sequences where they are there. */
export const runs = (): ReadonlyArray<Run> => {
  const real = requireData("screenshots")
    ? SCREENSHOT_SEQUENCES.map((name): Run => {
        const { messages, requests } = session(name)
        const at = [...new Set([...requests.map((r) => r.at), messages.length])].filter(
          (n) => n > 0
        )
        return { name, messages, requests: at, images: imagesIn(messages) }
      })
    : []
  return [ownRecording(), ...real].filter(({ requests }) => requests.length > 0)
}
