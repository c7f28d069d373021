import { basename, join } from "node:path"
import { Builder } from "./internal/Builder.ts"
import { addFrames, type Frame } from "./internal/frames.ts"
import { imageFile } from "./internal/images.ts"
import { fail, jsonFile, type Json, objects, type Place, string } from "./internal/json.ts"
import type { Session } from "./Session.ts"

/**
 * Reads a run of WebVoyager: a folder with `interact_messages.json` and `screenshotN.png`, the screen of turn N.
 *
 * The log is a chat in which screens are user messages, most of them clipped out. Here each screen is the
 * result of the action before, with the elements' list where the log still has it; an answer's thought is text
 * and its action the call. The last action answers the task and stands as text. There are no times and no usage.
 *
 * Fails with `SessionFileError` that names the file.
 *
 * @example
 * ```ts
 * import { read } from "@varve-examples/session-readers/WebVoyager"
 *
 * const task = (folder: string) => read(folder).messages[0]?.content
 * ```
 */
export const read = (path: string): Session => {
  const place = { file: join(path, "interact_messages.json") }
  const messages = objects(place, jsonFile(place.file), "the file")
  const builder = new Builder()
  const [first, ...rest] = messages
  if (first?.role !== "system") return fail(place, "should begin with a system message")
  const system = string(place, first.content, "[0].content")
  const frames: Array<Frame> = []
  for (let i = 0; i + 1 < rest.length; i += 2) {
    const turn = i / 2 + 1
    frames.push({
      image: imageFile(join(path, `screenshot${turn}.png`)),
      note: turn === 1 ? undefined : observed(said(place, rest[i], "user", i + 1)),
      ...answer(said(place, rest[i + 1], "assistant", i + 2))
    })
  }
  addFrames(builder, said(place, rest[0], "user", 1), frames)
  return builder.done(basename(path), { system })
}

/** The log says so where it has clipped the list of elements with the screen. */
const observed = (note: string): string | undefined =>
  note.endsWith("(Omitted in context.)") ? undefined : note

/** The text of a message; its clipped image (`{b64_img}`) is the screen that is read beside it. */
const said = (place: Place, message: Json | undefined, role: string, i: number): string => {
  if (message?.role !== role) return fail(place, `[${i}] should be a message of role ${role}`)
  if (typeof message.content === "string") return message.content
  const parts = objects(place, message.content, `[${i}].content`).filter(
    ({ type }) => type !== "image_url"
  )
  return parts.map((part) => string(place, part.text, `[${i}].content.text`)).join("\n")
}

const answer = (said: string): Pick<Frame, "thought" | "action"> => {
  const [thought, action] = said.split(/\s*Action: /, 2)
  return {
    thought,
    action: action === undefined ? undefined : { name: "browser", arguments: { action } }
  }
}
