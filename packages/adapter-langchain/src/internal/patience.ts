/**
 * Makes a way to ask a memory that waits no longer than so many ms. While it is still at work on something
 * that came too late, it is not asked again: each question would wait behind that one.
 */
export const patience = (ms: number) => {
  let atWork: Promise<unknown> | undefined
  return async <A>(ask: () => Promise<A>): Promise<A> => {
    if (atWork !== undefined) throw new Error("The memory is still at work on an earlier request.")
    const asked = ask()
    let timer: ReturnType<typeof setTimeout> | undefined
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        const done = (): void => void (atWork = undefined)
        atWork = asked.then(done, done)
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
