// What each provider accepts, written from its documentation and apart from the codecs. Each gives the
// faults of a request in words; none where it is valid.

type Json = Record<string, any>

const isText = (value: unknown): boolean => typeof value === "string" && value.trim() !== ""
const listOf = (value: unknown): ReadonlyArray<Json> => (Array.isArray(value) ? value : [])

/** Neighbours of one role are one turn for Anthropic. */
const turnsOf = (
  messages: ReadonlyArray<Json>
): ReadonlyArray<{ role: string; blocks: Array<Json> }> => {
  const turns: Array<{ role: string; blocks: Array<Json> }> = []
  for (const { content, role } of messages) {
    const blocks = typeof content === "string" ? [{ type: "text", text: content }] : listOf(content)
    const last = turns.at(-1)
    if (last?.role === role) last!.blocks.push(...blocks)
    else turns.push({ role, blocks: [...blocks] })
  }
  return turns
}

const anthropicBlockFault = (block: Json, inside = false): string | undefined => {
  switch (block.type) {
    case "text":
      return isText(block.text) ? undefined : "an empty text"
    case "image": {
      const { data, media_type, type, url } = block.source ?? {}
      const ok =
        type === "base64" ? isText(data) && isText(media_type) : type === "url" && isText(url)
      return ok && block.data === undefined ? undefined : "an image without a source"
    }
    case "tool_use":
      return isText(block.id) &&
        isText(block.name) &&
        typeof block.input === "object" &&
        block.input !== null &&
        !Array.isArray(block.input)
        ? undefined
        : "not a tool_use"
    case "tool_result": {
      if (inside || !isText(block.tool_use_id)) return "not a tool_result"
      if (block.content === undefined || typeof block.content === "string") return undefined
      if (!Array.isArray(block.content)) return "content of a tool_result"
      return block.content
        .map((b: Json) => anthropicBlockFault(b, true))
        .find((f: unknown) => f !== undefined)
    }
    case "thinking":
      return typeof block.thinking === "string" && isText(block.signature)
        ? undefined
        : "thinking without a signature"
    case "redacted_thinking":
      return isText(block.data) ? undefined : "redacted thinking without its data"
    case "document":
    case "server_tool_use":
    case "web_search_tool_result":
    case "code_execution_tool_result":
    case "search_result":
    case "tool_reference":
      return undefined
    default:
      return `a block of type ${String(block.type)}`
  }
}

export const anthropicFaults = (messages: ReadonlyArray<Json>): ReadonlyArray<string> => {
  const faults: Array<string> = []
  const open = new Set<string>()
  for (const { content, role } of messages) {
    if (role !== "user" && role !== "assistant") faults.push(`role ${role}`)
    if (
      typeof content === "string"
        ? !isText(content)
        : !(Array.isArray(content) && content.length > 0)
    )
      faults.push("an empty message")
    for (const block of listOf(content)) {
      const fault = anthropicBlockFault(block)
      if (fault !== undefined) faults.push(fault)
      if (block.type === "server_tool_use") open.add(block.id)
      else if (
        block.type !== "tool_result" &&
        block.tool_use_id !== undefined &&
        !open.delete(block.tool_use_id)
      )
        faults.push("the end of a server tool that never began")
    }
  }
  if (open.size > 0) faults.push("a server tool without its end")
  const turns = turnsOf(messages)
  if (turns[0] !== undefined && turns[0].role !== "user")
    faults.push("the first turn is not the user's")
  turns.forEach(({ blocks, role }, i) => {
    const results = blocks.filter((b) => b.type === "tool_result")
    if (role === "assistant") {
      if (blocks.every((b) => b.type === "thinking" || b.type === "redacted_thinking"))
        faults.push("reasoning alone")
      return
    }
    const calls = (turns[i - 1]?.blocks ?? []).filter((b) => b.type === "tool_use").map((b) => b.id)
    if (
      JSON.stringify(results.map((b) => String(b.tool_use_id)).toSorted(compare)) !==
      JSON.stringify(calls.map(String).toSorted(compare))
    )
      faults.push(`results ${list(results.map((b) => b.tool_use_id))} for calls ${list(calls)}`)
    if (blocks.slice(0, results.length).some((b) => b.type !== "tool_result"))
      faults.push("text before results")
  })
  const last = turns.at(-1)
  if (last?.role === "assistant" && last.blocks.some((b) => b.type === "tool_use"))
    faults.push("calls without results at the end")
  const marks = JSON.stringify(messages).split('"cache_control":{').length - 1
  if (marks > 4) faults.push(`marks: ${marks}`)
  return faults
}

const CHAT_PARTS = new Set(["text", "image_url", "input_audio", "file", "refusal"])

export const chatFaults = (messages: ReadonlyArray<Json>): ReadonlyArray<string> => {
  const faults: Array<string> = []
  let waiting = new Set<string>()
  for (const message of messages) {
    const { content, role, tool_calls: calls } = message
    if (role !== "tool" && waiting.size > 0) {
      faults.push(`no result of ${list([...waiting])}`)
      waiting = new Set()
    }
    for (const part of listOf(content)) {
      if (!CHAT_PARTS.has(part.type)) faults.push(`a part of type ${part.type}`)
      if (part.type === "text" && typeof part.text !== "string") faults.push("a text without text")
      if (part.type === "image_url" && !isText(part.image_url?.url))
        faults.push("an image without a url")
    }
    if (
      Array.isArray(content)
        ? content.length === 0 && calls === undefined
        : content != null && typeof content !== "string"
    )
      faults.push(`content of ${role}`)
    if (role === "tool") {
      if (!waiting.delete(message.tool_call_id))
        faults.push(`a result of ${message.tool_call_id} without its call`)
    } else if (role === "assistant") {
      if (calls !== undefined && listOf(calls).length === 0) faults.push("an empty list of calls")
      if (calls === undefined && (content == null || content === "")) faults.push("an empty answer")
      for (const call of listOf(calls)) {
        waiting.add(call.id)
        const text = call.type === "custom" ? call.custom.input : call.function.arguments
        if (typeof text !== "string") faults.push("arguments that are no text")
        else if (call.type === "function") {
          try {
            JSON.parse(text)
          } catch {
            faults.push("arguments that are no JSON")
          }
        }
      }
    } else if (role !== "user" && role !== "system" && role !== "developer")
      faults.push(`role ${role}`)
    else if (content == null || content === "") faults.push("an empty message")
  }
  if (waiting.size > 0) faults.push(`no result of ${list([...waiting])}`)
  return faults
}

const OUTPUT: Record<string, string> = {
  function_call: "function_call_output",
  custom_tool_call: "custom_tool_call_output",
  computer_call: "computer_call_output",
  shell_call: "shell_call_output"
}

/** `before` is the whole history: it says which items reasoning belongs to. */
export const responsesFaults = (
  items: ReadonlyArray<Json>,
  before: ReadonlyArray<Json>
): ReadonlyArray<string> => {
  const faults: Array<string> = []
  const calls = new Map<string, Json>()
  const ids = new Set<string>()
  const sealed = new Set(before.filter((i) => i.type === "reasoning").map((i) => JSON.stringify(i)))
  items.forEach((item, i) => {
    const { call_id, content, id, output, role, type } = item
    const isGiven = role === "user" || role === "developer" || role === "system"
    if (typeof id === "string") {
      if (ids.has(`${type} ${id}`)) faults.push(`${id} twice`)
      ids.add(`${type} ${id}`)
    }
    if ((isGiven || type === "reasoning" || role === "assistant") && calls.size > 0 && isGiven) {
      faults.push(`no output for ${list([...calls.keys()])}`)
      calls.clear()
    }
    if (isGiven) {
      if (typeof content === "string" ? content === "" : listOf(content).length === 0)
        faults.push("an empty message")
      for (const part of listOf(content)) {
        if (!/^input_(text|image|file)$/.test(part.type))
          faults.push(`a part ${part.type} of ${role}`)
        if (part.type === "input_image" && !isText(part.image_url))
          faults.push("an image without a url")
      }
    } else if (role === "assistant") {
      if (typeof content !== "string" && listOf(content).length === 0)
        faults.push("an empty answer")
      for (const part of listOf(content))
        if (part.type !== "output_text" && part.type !== "refusal")
          faults.push(`a part ${part.type} of the assistant`)
    } else if (type === "reasoning") {
      if (!sealed.has(JSON.stringify(item))) faults.push("reasoning that was changed")
      // Its follower in the history has to follow here too.
      const at = before.findIndex((b) => JSON.stringify(b) === JSON.stringify(item))
      const next = before[at + 1]
      const now = items[i + 1]
      if (
        next !== undefined &&
        (now === undefined ||
          next.type !== now.type ||
          next.id !== now.id ||
          next.call_id !== now.call_id)
      )
        faults.push("reasoning without its item")
    } else if (type in OUTPUT) {
      if (calls.has(call_id)) faults.push(`${call_id} is called twice`)
      calls.set(call_id, item)
      if (type === "function_call" && typeof item.arguments !== "string")
        faults.push("arguments that are no text")
      if (type === "custom_tool_call" && typeof item.input !== "string")
        faults.push("an input that is no text")
    } else if (String(type).endsWith("_call_output")) {
      const call = calls.get(call_id)
      if (call === undefined || OUTPUT[call.type] !== type)
        faults.push(`an output of ${call_id} without its call`)
      calls.delete(call_id)
      if (
        type === "computer_call_output" &&
        !(output?.type === "computer_screenshot" && isText(output.image_url))
      )
        faults.push("a computer's output without an image")
      if (
        type === "shell_call_output" &&
        !listOf(output).every(
          (o) =>
            typeof o.stdout === "string" && typeof o.stderr === "string" && o.outcome !== undefined
        )
      )
        faults.push("a shell's output without its streams")
      if (type === "function_call_output" && typeof output !== "string") {
        if (listOf(output).length === 0 && output?.length !== 0)
          faults.push("an output of another shape")
        for (const part of listOf(output))
          if (!/^input_(text|image|file)$/.test(part.type))
            faults.push(`a part ${part.type} of an output`)
      }
    } else if (type !== "web_search_call") faults.push(`an item of type ${type}`)
    // An item that the provider knows by id asks for the reasoning that it was made with.
    if (
      typeof id === "string" &&
      type !== "reasoning" &&
      !isGiven &&
      !String(type).endsWith("_output")
    ) {
      const at = before.findIndex((b) => b.id === id && b.type === type)
      for (
        let k = at - 1;
        k >= 0 && before[k]?.role === undefined && !String(before[k]?.type).endsWith("_output");
        k--
      )
        if (before[k]!.type === "reasoning") {
          if (!items.slice(0, i).some((x) => JSON.stringify(x) === JSON.stringify(before[k])))
            faults.push(`${id} without its reasoning`)
          break
        }
    }
  })
  if (calls.size > 0) faults.push(`no output for ${list([...calls.keys()])}`)
  return faults
}

const isSdkImage = (part: Json): boolean => {
  const data = part.type === "image" ? part.image : part.data
  return (
    typeof data === "string" ||
    data instanceof Uint8Array ||
    data instanceof URL ||
    (data?.type === "data" && data.data !== undefined)
  )
}

/** The same parts: a cache mark that moved says nothing. */
const saysSame = (a: unknown, b: unknown): boolean => {
  const said = (content: unknown): string =>
    JSON.stringify(
      listOf(content).map((part) => ({ ...part, providerOptions: part.providerOptions?.openai }))
    )
  return a === b || said(a) === said(b)
}

const sdkOutputFault = (output: Json): string | undefined => {
  switch (output?.type) {
    case "text":
    case "error-text":
      return typeof output.value === "string" ? undefined : "a text output that is no text"
    case "json":
    case "error-json":
      return output.value === undefined ? "an output without a value" : undefined
    case "execution-denied":
      return undefined
    case "content":
      return listOf(output.value).every((p) => {
        if (p.type === "text") return typeof p.text === "string"
        if (/^(media|image-data)$/.test(p.type)) return isText(p.data) && isText(p.mediaType)
        if (p.type === "file") return isSdkImage(p)
        return p.type === "image-url" || p.type === "file-id"
      })
        ? undefined
        : "a part of an output"
    default:
      return `an output of type ${output?.type}`
  }
}

export const sdkFaults = (
  messages: ReadonlyArray<Json>,
  before: ReadonlyArray<Json>
): ReadonlyArray<string> => {
  const faults: Array<string> = []
  let waiting = new Set<string>()
  let approvals = new Set<string>()
  for (const { content, role } of messages) {
    if (role !== "tool" && waiting.size > 0) {
      faults.push(`no result of ${list([...waiting])}`)
      waiting = new Set()
    }
    if (typeof content === "string" ? content === "" : listOf(content).length === 0)
      faults.push(`an empty message of ${role}`)
    const stored = new Set<unknown>()
    for (const part of listOf(content)) {
      const item = part.providerOptions?.openai?.itemId
      if (item !== undefined) stored.add(item)
      if (role === "tool" && !/^tool-(result|approval-response)$/.test(part.type))
        faults.push(`a part ${part.type} of a tool message`)
      else if (part.type === "text") {
        if (typeof part.text !== "string") faults.push("a text without text")
      } else if (part.type === "image" || part.type === "file") {
        if (!isSdkImage(part)) faults.push("an image without data")
      } else if (part.type === "tool-call" && role === "assistant") {
        if (part.providerExecuted !== true) waiting.add(part.toolCallId)
        if (part.input === undefined) faults.push("a call without input")
      } else if (part.type === "tool-result") {
        if (role === "tool" && !waiting.delete(part.toolCallId))
          faults.push(`a result of ${part.toolCallId} without its call`)
        const fault = sdkOutputFault(part.output)
        if (fault !== undefined) faults.push(fault)
      } else if (part.type === "tool-approval-request") approvals.add(part.approvalId)
      else if (part.type === "tool-approval-response") {
        if (!approvals.delete(part.approvalId)) faults.push("an approval of nothing")
      } else if (!/^reasoning(-file)?$/.test(part.type))
        faults.push(`a part of type ${part.type} of ${role}`)
    }
    // What a provider has stored is sent by reference: all of an answer, or none of it.
    if (
      role === "assistant" &&
      stored.size > 0 &&
      !before.some((m) => saysSame(m.content, content))
    )
      faults.push("an edited answer that is still bound to what is stored")
  }
  if (waiting.size > 0) faults.push(`no result of ${list([...waiting])}`)
  if (approvals.size > 0) faults.push("an approval without its answer")
  approvals = new Set()
  return faults
}

function list(ids: ReadonlyArray<unknown>): string {
  return ids.map(String).join(", ")
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
