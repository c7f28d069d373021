import { readdirSync } from "node:fs"
import { basename, join } from "node:path"
import { Builder } from "./internal/Builder.ts"
import { addFrames } from "./internal/frames.ts"
import { imageFile } from "./internal/images.ts"
import { fail, jsonFile, type Json, object, objects, type Place, string } from "./internal/json.ts"
import type { Session } from "./Session.ts"

/**
 * Reads a session of ScreenAgent: a folder with `<time>_translate.json` for each step and `images/`.
 *
 * Each step saw one screen, with a prompt of its own and no history: the conversation here is built from the
 * steps. The task is the English one; a step's text is its corrected answer in English, and its call has the
 * step's actions, under the name of the first one's type. Times are those of the files' names, taken as UTC.
 *
 * Left out and counted: negative samples (`_neg_*`) and the prompts.
 *
 * Fails with `SessionFileError` that names the file.
 *
 * @example
 * ```ts
 * import { read } from "@varve-examples/session-readers/ScreenAgent"
 *
 * const screens = (folder: string) => read(folder).messages.filter(({ role }) => role === "toolResult").length
 * ```
 */
export const read = (path: string): Session => {
  const builder = new Builder()
  const files = list(path).filter((name) => name.endsWith(".json"))
  const steps = files.filter((name) => name.endsWith("_translate.json"))
  for (let i = steps.length; i < files.length; i++) builder.skip("negative sample")
  let task: string | undefined
  const frames = steps.map((name) => {
    const place = { file: join(path, name) }
    const step = object(place, jsonFile(place.file), "the file")
    task ??= string(place, step.task_prompt_en, "task_prompt_en")
    builder.skip("prompt")
    return {
      image: imageFile(
        join(path, "images", string(place, step.saved_image_name, "saved_image_name"))
      ),
      thought: string(
        place,
        step.LLM_response_editer_en ?? step.LLM_response_editer,
        "LLM_response_editer_en"
      ),
      action: action(place, step),
      timestamp: timeOf(place, name)
    }
  })
  addFrames(builder, task ?? fail({ file: path }, "has no files named *_translate.json"), frames)
  return builder.done(basename(path))
}

const list = (folder: string): ReadonlyArray<string> => {
  try {
    return readdirSync(folder).toSorted()
  } catch (cause) {
    return fail({ file: folder }, "can't be read: is it there, and is it a folder?", cause)
  }
}

const action = (place: Place, step: Json) => {
  const actions = objects(place, step.actions, "actions")
  const first = actions[0] ?? fail(place, "actions should not be empty")
  return {
    name: string(place, first.action_type, "actions[0].action_type"),
    arguments: { actions }
  }
}

/** 2023-12-20_11-19-39-756126 */
const timeOf = (place: Place, name: string): number => {
  const parts = /^(\d{4}-\d\d-\d\d)_(\d\d)-(\d\d)-(\d\d)-(\d{3})/.exec(name)
  if (parts === null)
    return fail(place, "its name should begin with the time, like 2023-12-20_11-19-39-756126")
  const [, day, hour, minute, second, ms] = parts
  return Date.parse(`${day}T${hour}:${minute}:${second}.${ms}Z`)
}
