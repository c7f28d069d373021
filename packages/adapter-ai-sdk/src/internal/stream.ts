/** What is done at the turns of a stream. */
interface Watch<T> {
  /** Asked where it fails before the model has said anything: another stream in its place, or nothing. */
  readonly failed: (error: unknown) => Promise<ReadableStream<T> | undefined>
  /** Told of the part that has the usage. */
  readonly finished: (part: T) => void
}

/** Parts that come before the model has said anything. */
const BEFORE: ReadonlySet<string> = new Set(["stream-start", "response-metadata", "raw", "ping"])

type Part = { readonly type: string; readonly error?: unknown }

/** The parts of a stream, passed on one by one as they are asked for. */
export const watched = <T extends { readonly type: string }>(
  first: ReadableStream<T>,
  { failed, finished }: Watch<T>
): ReadableStream<T> => {
  let reader = first.getReader()
  let said = false
  let replaced = false

  /** The first part of the stream that takes the place of this one; nothing where none does. */
  const replace = async (error: unknown): Promise<boolean> => {
    if (said) return false
    said = true
    const other = await failed(error)
    if (other === undefined) return false
    reader.cancel().catch(() => {})
    reader = other.getReader()
    return (replaced = true)
  }

  const next = async (): Promise<ReadableStreamReadResult<T>> => {
    const read = await reader.read().catch(async (error: unknown) => {
      if (await replace(error)) return undefined
      throw error
    })
    if (read === undefined) return next()
    if (read.done) return read
    const part: Part = read.value
    if (part.type === "error") {
      try {
        if (await replace(part.error)) return await next()
      } catch (error) {
        return { done: false, value: { ...read.value, error } }
      }
    }
    if (!BEFORE.has(part.type)) said = true
    // The host knows already that a stream has begun.
    return replaced && part.type === "stream-start" ? next() : read
  }

  return new ReadableStream<T>(
    {
      pull: async (controller) => {
        const { done, value } = await next()
        if (done) return controller.close()
        if (value.type === "finish") finished(value)
        controller.enqueue(value)
      },
      cancel: (reason) => reader.cancel(reason)
    },
    { highWaterMark: 0 }
  )
}
