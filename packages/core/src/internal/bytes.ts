/** Control characters whose escape has two characters, as a line break's has; that of others has six. */
const SHORT: ReadonlyArray<number> = [8, 9, 10, 12, 13]

const BASE64 = /^[\w+/=-]*$/

/** Bytes of a text as UTF-8 inside JSON: escapes counted; what begins as base64 is taken for it. */
const textBytes = (text: string): number => {
  const n = text.length
  if (n > 2048 && BASE64.test(text.slice(0, 256))) return n
  let bytes = n
  for (let i = 0; i < n; i++) {
    const c = text.charCodeAt(i)
    if (c < 0x20) bytes += SHORT.includes(c) ? 1 : 5
    else if (c === 0x22 || c === 0x5c) bytes += 1
    else if (c > 0x7f) bytes += c < 0x800 ? 1 : c >= 0xd800 && c < 0xe000 ? 1 : 2
  }
  return bytes
}

/** Bytes of a value as JSON, near enough for a limit that is millions; no string is built. */
export const bytesOf = (value: unknown, depth = 0): number => {
  switch (typeof value) {
    case "string":
      return textBytes(value) + 2
    case "number":
      return 8
    case "boolean":
      return 5
    case "object": {
      if (value === null) return 4
      if (depth > 12) return 2
      let bytes = 2
      if (Array.isArray(value)) for (const item of value) bytes += bytesOf(item, depth + 1) + 1
      else {
        for (const key in value) {
          const item = (value as Record<string, unknown>)[key]
          if (item !== undefined && typeof item !== "function")
            bytes += key.length + 4 + bytesOf(item, depth + 1)
        }
      }
      return bytes
    }
    default:
      return 0
  }
}

/**
 * Bytes of a message as it is sent: its content and what binds a result to its call. What hosts keep beside
 * them (details, usage, times) stays with the host. Of a message without content, all counts.
 */
export const messageBytes = (message: object): number => {
  const { role, content, toolCallId, toolName } = message as Record<string, unknown>
  return content === undefined ? bytesOf(message) : bytesOf({ role, content, toolCallId, toolName })
}
