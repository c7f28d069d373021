import { readdirSync } from "node:fs"
import { basename, join } from "node:path"
import { Builder } from "./internal/Builder.ts"
import { addFrames } from "./internal/frames.ts"
import { imageFile } from "./internal/images.ts"
import { fail } from "./internal/json.ts"
import type { Session } from "./Session.ts"

const order = new Intl.Collator("en", { numeric: true }).compare

/**
 * Reads a folder of screens that has no log: each file is one call for a screenshot, in the order of their names
 * (numbers by value).
 *
 * The type of an image is that of its first bytes, whatever its name says. There are no times and no usage.
 *
 * Fails with `SessionFileError` that names the file, also where one is neither PNG nor JPEG.
 *
 * @example
 * ```ts
 * import { read } from "@varve-examples/session-readers/Screens"
 *
 * const types = (folder: string) =>
 *   read(folder).messages.flatMap((m) => (m.role === "toolResult" ? m.content : []))
 * ```
 */
export const read = (path: string): Session => {
  const builder = new Builder()
  const names = readdirSync(path).toSorted(order)
  if (names.length === 0) fail({ file: path }, "has no files")
  const frames = names.map((name, i) => {
    const next = names[i + 1]
    return {
      image: imageFile(join(path, name)),
      note: name,
      action: next === undefined ? undefined : { name: "screenshot", arguments: { of: next } }
    }
  })
  addFrames(builder, "Look at each of these screens, one after the other.", frames)
  return builder.done(basename(path))
}
