import { read } from "@varve-examples/session-readers/Detect"
import type { Session } from "@varve-examples/session-readers/Session"
import { readFileSync } from "node:fs"
import { dirname, isAbsolute, relative, resolve } from "node:path"

/**
 * Reads a log of any agent that `session-readers` knows. The demo's recording has its images as files beside it;
 * they come out as base64.
 *
 * Fails with `SessionFileError` on what no reader knows, with the system's own error where an image is missing,
 * and where the log has no request to a model, or one that can't be billed.
 */
export const readRecording = (path: string): Session => {
  const folder = dirname(resolve(path))
  const load = (file: string): string => {
    const place = relative(folder, resolve(folder, file))
    if (place.startsWith("..") || isAbsolute(place))
      throw new Error(`the image ${file} lies outside the session's folder.`)
    return readFileSync(resolve(folder, file), "base64")
  }
  const session = read(path)
  check(path, session)
  return {
    ...session,
    messages: session.messages.map((message) => {
      const content: unknown = message.content
      if (!Array.isArray(content)) return message
      const blocks = content.map((block: { readonly type?: string; readonly file?: unknown }) => {
        if (block.type !== "image" || typeof block.file !== "string") return block
        const { file, ...rest } = block
        return { ...rest, data: load(file) }
      })
      return { ...message, content: blocks } as unknown as typeof message
    })
  }
}

const check = (path: string, { messages, requests, skipped }: Session): void => {
  if (!requests.some(({ at }) => at > 0)) {
    const left = Object.entries(skipped).map(([what, n]) => `${n} of "${what}"`)
    throw new Error(
      `${path}: no request to a model found, in ${messages.length} messages` +
        (left.length === 0 ? "" : `; left out: ${left.join(", ")}`) +
        ". Take the log of a run in which the agent has answered."
    )
  }
  requests.forEach(({ timestamp = 0, usage }, i) => {
    const output = usage?.output ?? 0
    const wrong = !(output >= 0 && output < Infinity)
      ? `${output} tokens of output`
      : !Number.isFinite(timestamp)
        ? `the time ${timestamp}`
        : undefined
    if (wrong === undefined) return
    throw new Error(
      `${path}: request ${i + 1} of ${requests.length} has ${wrong}, which can't be billed. Correct it in the file, or take it out.`
    )
  })
}
