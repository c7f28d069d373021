type Loose = Readonly<Record<string, unknown>>

/** Most cache marks that Anthropic takes in one request. */
const MOST = 4

/** Blocks that may not carry one. */
const unmarkable = new Set(["thinking", "redacted_thinking"])

const isRecord = (u: unknown): u is Loose => typeof u === "object" && u !== null

const listOf = (u: unknown): ReadonlyArray<unknown> => (Array.isArray(u) ? u : [])

const controlOf = (u: unknown): unknown => (isRecord(u) ? u["cache_control"] : undefined)

/** pi writes call ids as Anthropic takes them. */
const idOf = (id: unknown): string =>
  String(id)
    .replace(/[^a-zA-Z0-9_-]/g, "_")
    .slice(0, 64)

/** A block of the payload: its message and its place there. */
type Place = readonly [message: number, block: number]

const textOf = (u: unknown): string | undefined => {
  const last = typeof u === "string" ? u : listOf(u).findLast((b) => isRecord(b) && b["text"])
  const text = isRecord(last) ? last["text"] : last
  return typeof text === "string" ? text.trim() : undefined
}

/** What tells a message from others: its last call, the call that it answers, or its last text. */
const keyOf = (message: unknown): string | undefined => {
  if (!isRecord(message)) return undefined
  const { content, role, toolCallId } = message
  if (role === "toolResult") return `result ${idOf(toolCallId)}`
  const last = listOf(content).at(-1)
  if (isRecord(last) && last["type"] === "toolCall") return `call ${idOf(last["id"])}`
  const text = textOf(content)
  return text === undefined ? undefined : `${String(role)} ${text}`
}

/** Where the messages of a payload end, by what tells them; equal ones in their order. */
const endsOf = (messages: ReadonlyArray<unknown>): Map<string, Array<Place>> => {
  const ends = new Map<string, Array<Place>>()
  const add = (key: string, place: Place): void => {
    ends.set(key, [...(ends.get(key) ?? []), place])
  }
  messages.forEach((message, m) => {
    if (!isRecord(message)) return
    const blocks = listOf(message["content"])
    blocks.forEach((block, b) => {
      if (!isRecord(block)) return
      if (block["type"] === "tool_result") add(`result ${idOf(block["tool_use_id"])}`, [m, b])
      if (block["type"] === "tool_use") add(`call ${idOf(block["id"])}`, [m, b])
    })
    const last = blocks.findLastIndex((b) => isRecord(b) && !unmarkable.has(String(b["type"])))
    const text = textOf(message["content"])
    if (text !== undefined) add(`${String(message["role"])} ${text}`, [m, last])
  })
  return ends
}

/** Where a message of the view ends in the payload; else the nearest before it that stands there. */
const placeOf = (
  view: ReadonlyArray<unknown>,
  at: number,
  ends: ReadonlyMap<string, ReadonlyArray<Place>>
): Place | undefined => {
  for (let i = at; i >= 0; i--) {
    const key = keyOf(view[i])
    const places = key === undefined ? undefined : ends.get(key)
    if (places === undefined) continue
    // Of equal ones it is the one with as many before it.
    const place = places[view.slice(0, i).filter((m) => keyOf(m) === key).length]
    if (place !== undefined) return place
  }
  return undefined
}

const withControl = (message: unknown, block: number, control: unknown): unknown => {
  if (!isRecord(message)) return message
  const { content } = message
  const marked =
    typeof content === "string"
      ? [{ type: "text", text: content, cache_control: control }]
      : listOf(content).map((b, i) =>
          i === block && isRecord(b) ? { ...b, cache_control: control } : b
        )
  return { ...message, content: marked }
}

const withoutControl = (u: unknown): unknown => {
  if (!isRecord(u) || controlOf(u) == null) return u
  const { cache_control: _, ...rest } = u
  return rest
}

/** A message without cache marks. */
const unmarked = (message: unknown): unknown =>
  isRecord(message) && Array.isArray(message["content"])
    ? { ...message, content: message["content"].map(withoutControl) }
    : message

/**
 * Anthropic's payload, as pi made it, with cache marks behind the messages of the view that are named, the
 * newest first, as many as there is room for. pi marks system text, tools and the newest message: the mark of
 * the tools gives way, since that of the system text behind them covers them; and that of the newest message, where
 * none is named so far down: what stands at its end will not be read again. Nothing where the payload is none of
 * Anthropic's, or pi was told not to cache.
 */
export const markedPayload = (
  payload: unknown,
  view: ReadonlyArray<unknown>,
  marks: ReadonlyArray<number>
): Loose | undefined => {
  if (!isRecord(payload) || !Array.isArray(payload["messages"])) return undefined
  const system = listOf(payload["system"])
  let tools = listOf(payload["tools"])
  const out: Array<unknown> = payload["messages"].slice()
  const blocksOf = (m: unknown) => (isRecord(m) ? listOf(m["content"]) : [])
  const set = [...system, ...tools, ...out.flatMap(blocksOf)].filter((b) => controlOf(b) != null)
  const control = controlOf(set.at(-1))
  if (control == null) return undefined
  let room = MOST - set.length
  if (system.some((b) => controlOf(b) != null)) {
    room += tools.filter((t) => controlOf(t) != null).length
    tools = tools.map(withoutControl)
  }
  const ends = endsOf(out)
  let hasTail = Math.max(...marks, -1) < view.length - 1 && marks.length > 0
  for (const mark of marks.toSorted((a, b) => b - a)) {
    const [m, b] = placeOf(view, mark, ends) ?? []
    if (m === undefined || b === undefined) continue
    if (hasTail) {
      room += out.flatMap(blocksOf).filter((block) => controlOf(block) != null).length
      out.forEach((message, i) => void (out[i] = unmarked(message)))
      hasTail = false
    }
    if (room <= 0) break
    const { content } = out[m] as Loose
    if (typeof content !== "string" && (b < 0 || controlOf(listOf(content)[b]) != null)) continue
    out[m] = withControl(out[m], b, control)
    room--
  }
  return { ...payload, ...(payload["tools"] === undefined ? {} : { tools }), messages: out }
}
