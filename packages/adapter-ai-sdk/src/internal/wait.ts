/** Waits for an answer of a memory. Rejects where there is none in time. */
export type Wait = <A>(ask: () => Promise<A>) => Promise<A>

/**
 * Makes a wait of so many ms. What came too late is still worked on, so that the memory has it next time;
 * until then nobody waits in line behind it: further questions are refused at once.
 */
export const makeWait = (ms: number): Wait => {
  let late = false
  return (ask) =>
    new Promise((resolve, reject) => {
      if (late) return reject(new Error("The memory is still at an earlier request."))
      const answer = ask()
      let over = false
      const timer = setTimeout(() => {
        over = late = true
        reject(new Error(`The memory has not answered within ${ms} ms.`))
      }, ms)
      const settle = (): void => {
        clearTimeout(timer)
        if (over) late = false
      }
      answer.then(
        (given) => {
          settle()
          resolve(given)
        },
        (error: Error) => {
          settle()
          reject(error)
        }
      )
    })
}
