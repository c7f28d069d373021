/** Longest wait for a memory, ms: more than a strategy and a store may take. */
const WAIT = 120_000

/** Asks, and waits no longer than it has patience. Rejects with an `Error` where no answer came in time. */
export type Patience = <A>(ask: () => Promise<A>) => Promise<A>

/**
 * Makes a way to ask a memory that waits at most so many ms (default 120 000), for adapters: a host's request
 * goes on without us rather than hang. What came too late is still worked on, so that the memory has it next
 * time; until then nothing is asked, since each question would wait behind that one: it rejects at once.
 *
 * @example
 * ```ts
 * import { patience } from "@varve/core/Patience"
 *
 * const inTime = patience(1000)
 * console.log(await inTime(async () => "a view")) // => a view
 * ```
 */
export const patience = (ms: number = WAIT): Patience => {
  let isAtWork = false
  return async (ask) => {
    if (isAtWork) throw new Error("The memory is still at work on an earlier request.")
    const asked = ask()
    let timer: ReturnType<typeof setTimeout> | undefined
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        isAtWork = true
        const done = (): void => void (isAtWork = false)
        asked.then(done, done)
        reject(new Error(`The memory gave no answer within ${ms} ms.`))
      }, ms)
    })
    try {
      return await Promise.race([asked, late])
    } finally {
      clearTimeout(timer)
    }
  }
}
