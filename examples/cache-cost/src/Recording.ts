import { read } from "@varve-examples/session-readers/Pi"
import type { Session } from "@varve-examples/session-readers/Session"
import { readFileSync } from "node:fs"
import { dirname, isAbsolute, relative, resolve } from "node:path"

/**
 * Reads a session of pi. The demo's recording has its images as files beside it; they come out as base64.
 *
 * Fails with `SessionFileError` on what is no session, with the system's own error where an image is missing.
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
