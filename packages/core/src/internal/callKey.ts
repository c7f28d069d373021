import { hashText } from "./hash.ts"
import { short } from "./statements.ts"

// What makes a call of a tool the same call again, so that its result clears the error of the last one.

/** Tools that change files. */
export const WRITES =
  /write|edit|create|patch|replace|delete|remove|move|rename|save|insert|append/i

/** Tools that make a file what it should be: it is past what failed to be written to it before. */
const MOVES = /delete|remove|move|rename/i
export const isContentTool = (tool: string): boolean => WRITES.test(tool) && !MOVES.test(tool)

/** Names of arguments that hold a command, not a name. */
export const COMMAND = /^(?:command|cmd|script|code)$/i

/** Arguments that don't make it another call: how much is read or waited for, and why. */
export const MANNER =
  /^(?:(?:view|line)_?)?range$|^(?:start|end|max|num|head|tail)_?lines?$|^(?:lines?|start|end|offset|limit|max_?results|timeout|delay|duration)(?:_?(?:ms|s|sec|seconds))?$/i
export const REMARK = /^(?:description|explanation|reason|thought)$/i

/** What a call's key may have of it, in UTF-16 units; of more, the rest as a hash. */
const KEY = 160

/** Output that is cut or joined on its way is the same command. */
export const sameCommand = (command: string): string =>
  command
    .trim()
    .replace(/\s+/g, " ")
    .replace(/ ?2>&1/g, "")
    .replace(/ ?\| ?(?:tail|head|cat)\b[^|;&]*$/, "")

export const keyOf = (tool: string, parts: ReadonlyArray<string>): string => {
  const whole = `${tool} ${parts.join(" ").trim().replace(/\s+/g, " ")}`.trim()
  return whole.length <= KEY ? whole : `${short(whole, KEY)} ${hashText(whole)}`
}

/** Whether a key is of a call that wrote this file. */
export const isWriteOf = (key: string, path: string): boolean => {
  const at = key.indexOf(" ")
  return isContentTool(key.slice(0, at)) && key.slice(at + 1) === path
}
