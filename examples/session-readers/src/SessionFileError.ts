/**
 * A log file that can't be read as what it should be.
 *
 * `file` is its path, `line` (from 1) the line where that is known; the message begins with both.
 *
 * @example
 * ```ts
 * import { SessionFileError } from "@varve-examples/session-readers/SessionFileError"
 *
 * console.log(new SessionFileError("run.jsonl", 3, "not JSON").message) // => run.jsonl:3: not JSON
 * ```
 */
export class SessionFileError extends Error {
  readonly _tag = "SessionFileError"
  readonly file: string
  readonly line: number | undefined

  constructor(file: string, line: number | undefined, reason: string, cause?: unknown) {
    super(`${file}${line === undefined ? "" : `:${line}`}: ${reason}`, { cause })
    this.name = "SessionFileError"
    this.file = file
    this.line = line
  }
}
