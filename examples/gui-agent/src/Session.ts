import { readFileSync } from "node:fs"
import { dirname, isAbsolute, relative, resolve } from "node:path"

/** A message as pi has it. Only `role` is looked at here; everything else passes through. */
export interface SessionMessage {
  readonly role: string
  readonly [field: string]: unknown
}

export interface Session {
  /** The whole history, oldest first. What pi compacted away is still in it. */
  readonly messages: ReadonlyArray<SessionMessage>
  /**
   * The model requests: for each, the index of the assistant message that answered it. The request
   * was made with everything before that index: `messages.slice(0, index)`.
   */
  readonly requests: ReadonlyArray<number>
  /** System prompt and tools, where the file tells them (pi's own files don't). */
  readonly system?: string
  readonly tools?: ReadonlyArray<unknown>
}

/** The file is no pi session, or one of its lines can't be read. The message names the file and the line. */
export class SessionError extends Error {
  readonly _tag = "SessionError"
  readonly path: string
  /** Nothing where it is the whole file. */
  readonly line: number | undefined

  constructor(path: string, line: number | undefined, what: string) {
    super(line === undefined ? `${path}: ${what}` : `${path}, line ${line}: ${what}`)
    this.name = "SessionError"
    this.path = path
    this.line = line
  }
}

type Fields = Record<string, unknown>

interface Entry {
  readonly line: number
  readonly fields: Fields
}

const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/**
 * Reads a session file of pi (JSONL, of every version), or a recording of this example, whose
 * images lie beside it as files; images come out as base64 either way.
 *
 * Fails with `SessionError`, which names the line, on what is no session, a torn line, a message
 * without a role, and an image file that is missing or lies outside the session's folder.
 *
 * @example
 * ```ts
 * import { readSession } from "../src/Session.ts"
 *
 * const { messages, requests } = readSession("examples/gui-agent/recording/session.jsonl")
 * const heads = requests.map((index) => messages.slice(0, index))
 * console.log(heads[0]?.length) // => 1
 * ```
 */
export const readSession = (path: string): Session => {
  const entries = readEntries(path)
  const images = imageReader(path)
  const messages: Array<SessionMessage> = []
  let request: Fields = {}
  for (const entry of ownBranch(path, entries)) {
    const { fields, line } = entry
    if (
      fields["type"] === "custom" &&
      fields["customType"] === "request" &&
      isFields(fields["data"])
    )
      request = fields["data"]
    const message = messageOf(fields)
    if (message === undefined) continue
    if (!isFields(message) || typeof message["role"] !== "string")
      throw new SessionError(path, line, "a message needs to be an object with a role.")
    messages.push(images(message as unknown as SessionMessage, line))
  }
  return {
    messages,
    requests: messages.flatMap(({ role }, index) => (role === "assistant" ? [index] : [])),
    ...(typeof request["system"] === "string" ? { system: request["system"] } : {}),
    ...(Array.isArray(request["tools"]) ? { tools: request["tools"] } : {})
  }
}

const readEntries = (path: string): ReadonlyArray<Entry> => {
  const entries: Array<Entry> = []
  for (const [index, text] of readFileSync(path, "utf8").split("\n").entries()) {
    if (text.trim() === "") continue
    const line = index + 1
    const fields = parse(text)
    if (!isFields(fields))
      throw new SessionError(path, line, "this is no JSON object; a session has one on each line.")
    if (entries.length === 0 && fields["type"] !== "session")
      throw new SessionError(
        path,
        line,
        'this is no pi session: it must start with a line of type "session".'
      )
    entries.push({ line, fields })
  }
  if (entries.length === 0) throw new SessionError(path, 1, "the file is empty.")
  return entries.slice(1)
}

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * Files of version 1 are in order of time. Later ones are a tree (`id`, `parentId`); the session
 * is then the branch that ends in the last entry.
 */
const ownBranch = (path: string, entries: ReadonlyArray<Entry>): ReadonlyArray<Entry> => {
  const byId = new Map(entries.map((entry) => [entry.fields["id"], entry]))
  const last = entries.at(-1)
  if (last === undefined || !("parentId" in last.fields)) return entries
  const branch: Array<Entry> = []
  const seen = new Set<Entry>()
  for (let entry: Entry = last; ;) {
    if (seen.has(entry)) throw new SessionError(path, entry.line, "this entry is its own ancestor.")
    seen.add(entry)
    branch.unshift(entry)
    const parent = entry.fields["parentId"]
    if (parent === null || parent === undefined) return branch
    const above = byId.get(parent)
    if (above === undefined)
      throw new SessionError(
        path,
        entry.line,
        `its parent ${JSON.stringify(parent)} isn't in the file.`
      )
    entry = above
  }
}

/** What pi puts into its history for a line; lines of bookkeeping give nothing. */
const messageOf = (fields: Fields): unknown => {
  const timestamp = Date.parse(String(fields["timestamp"]))
  switch (fields["type"]) {
    case "message":
      return fields["message"] ?? null
    case "custom_message": {
      const { customType, content, display, details } = fields
      return { role: "custom", customType, content, display, details, timestamp }
    }
    case "branch_summary":
      return {
        role: "branchSummary",
        summary: fields["summary"],
        fromId: fields["fromId"],
        timestamp
      }
    default:
      return undefined
  }
}

/** Puts the bytes of image files into a message. Each file is read once. */
const imageReader = (path: string) => {
  const folder = dirname(resolve(path))
  const files = new Map<string, string>()

  const load = (file: string, line: number): string => {
    const known = files.get(file)
    if (known !== undefined) return known
    const place = relative(folder, resolve(folder, file))
    if (place.startsWith("..") || isAbsolute(place))
      throw new SessionError(path, line, `the image ${file} lies outside the session's folder.`)
    let data: string
    try {
      data = readFileSync(resolve(folder, file), "base64")
    } catch {
      throw new SessionError(
        path,
        line,
        `the image ${file} can't be read; it belongs beside the session.`
      )
    }
    files.set(file, data)
    return data
  }

  return (message: SessionMessage, line: number): SessionMessage => {
    const content = message["content"]
    if (!Array.isArray(content)) return message
    const isReference = (block: unknown): block is Fields & { file: string } =>
      isFields(block) && block["type"] === "image" && typeof block["file"] === "string"
    if (!content.some(isReference)) return message
    return {
      ...message,
      content: content.map((block: unknown) => {
        if (!isReference(block)) return block
        const { file, ...rest } = block
        return { ...rest, data: load(file, line) }
      })
    }
  }
}
