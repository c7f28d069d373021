/** Tells what a step or a call did from its name and its goal: looked at something, or changed it. */
const CHANGES =
  /(?<!\p{L})(?:write|edit|create|patch|replace|delete|remove|move|rename|save|insert|append|update|change|set|add|apply|fix|install|commit|push|merge|deploy|migrate|publish|upload|send|submit|order|buy|pay|book|type|fill|drop|restart|rm|mv|cp|mkdir|git (?:add|commit|push|merge|rebase|reset|checkout))(?:e?s|d|ed|ing)?(?!\p{L})/iu

export const isChange = (text: string): boolean => CHANGES.test(text.replaceAll("_", " "))

/** Where a step's arguments begin in a line. */
const ARGUMENTS = "; arguments: "

/** A line that stands for several: how often it came. Code writes it, at the end of a line of ours. */
const TIMES = / \((\d{1,6}) times\)$/

/** A line without how often it came, and how often that is. */
export const countedIn = (line: string): readonly [line: string, times: number] => {
  const times = TIMES.exec(line)
  return times === null ? [line, 1] : [line.slice(0, times.index), Number(times[1])]
}

export const counted = (line: string, times: number): string =>
  times === 1 ? line : `${line} (${times} times)`

/** What makes two steps the same: all but their number and the arguments. */
export const stepKey = (text: string): string => {
  const [said] = countedIn(text)
  const at = said.indexOf(ARGUMENTS)
  return at < 0 ? said : said.slice(0, at)
}

/** A call as material has it, and as a line of ours has it. */
export const CALL = "[call of "
const CALLED = /^\[call of (.{1,80}?) with (.*)\]$/s
const SHOWN = 120

/** What a call was on: the file that it names, else its command or the first short text in it. */
const aboutOf = (json: string): string | undefined => {
  let args: unknown
  try {
    args = JSON.parse(json)
  } catch {
    return undefined
  }
  if (typeof args !== "object" || args === null) return undefined
  const texts = Object.entries(args).filter(
    (entry): entry is [string, string] => typeof entry[1] === "string" && entry[1].trim() !== ""
  )
  const [, about] =
    texts.find(([name]) => /path|file/i.test(name)) ??
    texts.find(([name]) => /^(?:command|cmd|url|query|selector)$/i.test(name)) ??
    texts[0] ??
    []
  if (about === undefined || about.length > SHOWN || /[\n\r]/.test(about)) return undefined
  return about.trim().toWellFormed()
}

/** `[call of edit with src/a.ts]`; nothing of a call that says less than its name. */
export const callLine = (line: string): string | undefined => {
  const [said] = countedIn(line)
  const [, name, json] = CALLED.exec(said) ?? []
  if (name === undefined) return undefined
  // A line of ours, of an earlier round.
  if (!/^[{["]|^(?:null|true|false|-?\d+)$/.test(json!)) return said
  const about = aboutOf(json!)
  return about === undefined ? undefined : `${CALL}${name} with ${about}]`
}
