import { basename } from "node:path"
import { Builder } from "./internal/Builder.ts"
import * as chat from "./internal/chat.ts"
import { array, jsonFile, object, objects, string } from "./internal/json.ts"
import type { Session } from "./Session.ts"

/**
 * Reads a trajectory of SWE-agent (`.traj`).
 *
 * The history is the whole one: SWE-agent shortens old observations before it sends them. Older files have no
 * calls: actions are text of the assistant, observations are user messages. Each assistant message is a
 * request; demonstrations and replays hold such messages too, though no model was asked. There are no times and
 * no usage by request. Some files use one call id again for later calls; ids are kept as they are.
 *
 * Left out and counted: messages of other roles.
 *
 * Fails with `SessionFileError` that names the file.
 *
 * @example
 * ```ts
 * import { read } from "@varve-examples/session-readers/SweAgent"
 *
 * const steps = (file: string) => read(file).requests.length
 * ```
 */
export const read = (path: string): Session => {
  const place = { file: path }
  const builder = new Builder()
  let system: string | undefined
  objects(place, object(place, jsonFile(path), "the file").history, "history").forEach(
    (message, i) => {
      const at = `history[${i}]`
      const role = string(place, message.role, `${at}.role`)
      const content = () => chat.content(place, message.content, `${at}.content`)
      if (role === "system") system = string(place, message.content, `${at}.content`)
      else if (role === "user") builder.user(content())
      else if (role === "assistant") builder.assistant(chat.answer(place, message, at))
      else if (role === "tool") {
        const [id] = array(place, message.tool_call_ids, `${at}.tool_call_ids`)
        builder.result(string(place, id, `${at}.tool_call_ids[0]`), content())
      } else builder.skip(`role ${role}`)
    }
  )
  return builder.done(basename(path, ".traj"), { system })
}
