import { basename } from "node:path"
import { Builder, text } from "./internal/Builder.ts"
import { dataUri } from "./internal/images.ts"
import {
  count,
  isObject,
  type Json,
  jsonFile,
  object,
  objects,
  type Place,
  string
} from "./internal/json.ts"
import type { Block, ImageBlock, Usage } from "./Message.ts"
import type { Session } from "./Session.ts"

/**
 * Reads a dump of Midscene (JSON, images inline or by reference).
 *
 * Midscene keeps no conversation; this builds the plain one of its tasks. An execution begins with a user
 * message: the instruction and the screen. A model call (plan, locate, assert) becomes one request; its answer
 * is the assistant message with what was done next: the action, a wait, or the search for an element where
 * that was a model call of its own (its answer is then the action). A result has the screens taken since, each
 * once, and at its end always the newest, even where nothing changed. So the real requests, which held two
 * screens at most, were smaller than `messages.slice(0, at)`, and reported usage with them.
 *
 * Left out and counted: a `Locate` whose position the plan gave already.
 *
 * Fails with `SessionFileError` that names the file.
 *
 * @example
 * ```ts
 * import { read } from "@varve-examples/session-readers/Midscene"
 *
 * const actions = (file: string) =>
 *   read(file).messages.flatMap((m) => (m.role === "toolResult" ? [m.toolName] : []))
 * ```
 */
export const read = (path: string): Session => {
  const place = { file: path }
  const file = object(place, jsonFile(path), "the file")
  const dump = file.dump === undefined ? file : object(place, file.dump, "dump")
  const images = isObject(file.images) ? file.images : {}
  const run: Run = {
    builder: new Builder(),
    place,
    images,
    shown: new Set(),
    fresh: [],
    thought: undefined,
    calls: 0
  }
  objects(place, dump.executions, "executions").forEach((execution, i) => {
    const tasks = objects(place, execution.tasks, `executions[${i}].tasks`)
    begin(run, execution, tasks[0])
    for (const task of tasks) step(run, task)
    endThought(run)
  })
  return run.builder.done(basename(path, ".json"))
}

/** What a model call said, until it is known what was done with it. */
interface Thought {
  readonly text: string | undefined
  readonly sleep: number | undefined
  readonly usage: Usage | undefined
  readonly model: string | undefined
  readonly start: number
  readonly end: number
}

interface Run {
  readonly builder: Builder
  readonly place: Place
  readonly images: Json
  /** The data of every image in a message so far. */
  readonly shown: Set<string>
  /** Images taken since the last message. */
  fresh: Array<ImageBlock>
  thought: Thought | undefined
  calls: number
}

const begin = (run: Run, execution: Json, first: Json | undefined): void => {
  const { builder, place } = run
  const param = isObject(first?.param) ? first.param : {}
  const instruction = param.userInstruction ?? execution.name
  const screen =
    first === undefined ? undefined : (screens(run, first.uiContext)[0] ?? recorded(run, first)[0])
  if (screen !== undefined) run.shown.add(screen.data)
  builder.user(
    [
      ...text(string(place, instruction, "name of an execution")),
      ...(screen === undefined ? [] : [screen])
    ],
    first === undefined ? undefined : timing(run, first).start
  )
}

const step = (run: Run, task: Json): void => {
  const { builder, place } = run
  const kind = `${string(place, task.type, "type of a task")}/${string(place, task.subType, "subType of a task")}`
  const param = isObject(task.param) ? task.param : {}
  if (kind === "Planning/Plan") {
    endThought(run)
    run.thought = thought(run, task)
    run.fresh.push(...recorded(run, task))
  } else if (kind.endsWith("/Locate")) {
    if (task.usage === undefined) return builder.skip(`${kind} by the plan`)
    const { start } = timing(run, task)
    const screen = screens(run, task.uiContext)
    // With a plan before it, the search is what the plan led to. Without, the search is the first thing done.
    if (run.thought !== undefined) {
      const id = call(run, "Locate", { prompt: param.prompt }, start)
      result(run, id, run.fresh.length > 0 ? run.fresh.splice(0) : screen, start)
    }
    run.thought = { ...thought(run, task), text: undefined }
    run.fresh.push(...screen, ...recorded(run, task))
  } else if (kind.startsWith("Action")) {
    const { start, end } = timing(run, task)
    const id = call(run, string(place, task.subType, "subType of a task"), argumentsOf(task), start)
    result(run, id, recorded(run, task), end, task.status !== "finished")
  } else if (kind === "Insight/Assert") {
    const { pass, thought: why } = object(place, task.output, "output of Assert")
    run.thought = { ...thought(run, task), text: JSON.stringify({ pass, thought: why }) }
    endThought(run)
  } else builder.skip(kind)
}

/** The action's own parameters; in old dumps the element stands beside them. */
const argumentsOf = (task: Json): unknown =>
  task.locate === undefined || task.locate === null
    ? (task.param ?? {})
    : { ...(isObject(task.param) ? task.param : {}), locate: task.locate }

/** An assistant message with a call; it answers a request if a model call waits for its outcome. */
const call = (run: Run, name: string, args: unknown, timestamp: number): string => {
  const { builder, thought } = run
  const id = `call_${(run.calls += 1)}`
  const block: Block = { type: "toolCall", id, name, arguments: args }
  if (thought === undefined) builder.reply([block], { timestamp })
  else builder.assistant([...text(thought.text), block], answer(thought))
  run.thought = undefined
  return id
}

const answer = ({ model, start, usage }: Thought) => ({ model, usage, timestamp: start })

const result = (
  run: Run,
  id: string,
  last: ReadonlyArray<ImageBlock>,
  end: number,
  isError = false
): void => {
  const final = last.at(-1)
  const before = [...run.fresh, ...last.slice(0, -1)].filter(
    ({ data }) => data !== final?.data && !run.shown.has(data)
  )
  const images = [
    ...new Map(before.map((image) => [image.data, image])).values(),
    ...(final ? [final] : [])
  ]
  for (const { data } of images) run.shown.add(data)
  run.fresh = []
  run.builder.result(id, images, end, isError)
}

/** A model call that led to no action: it waited, or said something. */
const endThought = (run: Run): void => {
  const { thought } = run
  if (thought === undefined) return
  if (thought.sleep !== undefined) {
    const id = call(run, "Sleep", { ms: thought.sleep }, thought.start)
    result(run, id, run.fresh.splice(0), thought.end)
  } else {
    run.builder.assistant(text(thought.text), answer(thought))
    run.thought = undefined
  }
}

const thought = (run: Run, task: Json): Thought => {
  const output = isObject(task.output) ? task.output : {}
  const usage = isObject(task.usage) ? task.usage : undefined
  return {
    ...timing(run, task),
    text: typeof output.log === "string" ? output.log : undefined,
    sleep: objects(run.place, output.yamlFlow ?? [], "yamlFlow of a plan")
      .map(({ sleep }) => sleep)
      .find((sleep) => typeof sleep === "number"),
    model: typeof usage?.model_name === "string" ? usage.model_name : undefined,
    usage: usage === undefined ? undefined : tokens(usage)
  }
}

/** `prompt_tokens` has the cached ones in it. */
const tokens = (usage: Json): Usage => {
  const cacheRead = count(usage.cached_input)
  return {
    input: count(usage.prompt_tokens) - cacheRead,
    cacheRead,
    cacheWrite: 0,
    output: count(usage.completion_tokens)
  }
}

const timing = ({ place }: Run, task: Json): { readonly start: number; readonly end: number } => {
  const { end, start } = object(place, task.timing, "timing of a task")
  return { start: count(start), end: count(end) }
}

const screens = (run: Run, uiContext: unknown): ReadonlyArray<ImageBlock> => {
  if (!isObject(uiContext)) return []
  const shot = uiContext.screenshot ?? uiContext.screenshotBase64
  return shot === undefined ? [] : [image(run, shot)]
}

const recorded = (run: Run, task: Json): ReadonlyArray<ImageBlock> =>
  objects(run.place, task.recorder ?? [], "recorder of a task").map(({ screenshot }) =>
    image(run, screenshot)
  )

const image = ({ images, place }: Run, shot: unknown): ImageBlock => {
  if (!isObject(shot)) return dataUri(place, string(place, shot, "screenshot"), "screenshot")
  const id = string(place, shot.id, "id of a screenshot")
  return dataUri(place, string(place, images[id], `images["${id}"]`), `images["${id}"]`)
}
