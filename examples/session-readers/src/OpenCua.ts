import { existsSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { Builder } from "./internal/Builder.ts"
import { addFrames } from "./internal/frames.ts"
import { imageFile } from "./internal/images.ts"
import { fail, jsonLines, object, objects, string } from "./internal/json.ts"
import type { Session } from "./Session.ts"

/**
 * Reads the first trajectory of an OpenCUA file (`raw_example.jsonl`), with the screens beside it.
 *
 * The task is the instruction, each step's call has the step's pyautogui code. A screen that is not beside the
 * file is counted and a text says so in its place. The last step ends the task. There are no times and no usage.
 *
 * Fails with `SessionFileError` that names file and line.
 *
 * @example
 * ```ts
 * import { read } from "@varve-examples/session-readers/OpenCua"
 *
 * const missing = (file: string) => read(file).skipped["missing screen"]
 * ```
 */
export const read = (path: string): Session => {
  const { entry, place } = jsonLines(path)[0] ?? fail({ file: path }, "has no trajectory")
  const builder = new Builder()
  const frames = objects(place, entry.traj, "traj").map((step, i) => {
    const name = string(place, step.image, `traj[${i}].image`)
    const { code } = object(place, step.value, `traj[${i}].value`)
    const file = join(dirname(path), name)
    const there = existsSync(file)
    if (!there) builder.skip("missing screen")
    return {
      image: there ? imageFile(file) : undefined,
      note: there || i === 0 ? undefined : `${name} is missing.`,
      action: {
        name: "pyautogui",
        arguments: { code: string(place, code, `traj[${i}].value.code`) }
      }
    }
  })
  addFrames(builder, string(place, entry.instruction, "instruction"), frames)
  return builder.done(basename(path, ".jsonl"))
}
