/**
 * Random triples of a session, a pipeline of first-party strategies and a profile, each checked at every
 * request: no validity fault, no exception, within the limits, or `ContextOverflow` exactly when what nobody may
 * cut is over a limit by itself.
 *
 * `node --conditions=@varve/source src/soak/soak.ts [COUNT] [SEED]`, default 100 000 and 1, over two processes.
 * Ends with 1 at the first failing triple, and prints the smallest one.
 */
import { fork } from "node:child_process"
import type { Figures } from "./Chunk.ts"
import { none, runChunk, sum } from "./Chunk.ts"

const CHUNK = 250
const PROCESSES = 2

interface Job {
  readonly seed: number
  readonly count: number
}

const whole = (text: string | undefined, otherwise: number): number => {
  const n = text === undefined ? otherwise : Number(text)
  if (Number.isInteger(n) && n > 0) return n
  console.error(`COUNT and SEED are whole numbers of at least 1; this is ${JSON.stringify(text)}`)
  process.exit(2)
}

/** A worker: runs what it is sent until it is let go. */
const work = (): void => {
  process.on("disconnect", () => process.exit())
  process.on("message", ({ seed, count }: Job) => {
    void runChunk(seed, count).then((done) => process.send?.(done))
  })
}

const percent = (n: number, of: number): string => `${((100 * n) / Math.max(1, of)).toFixed(1)} %`

const main = async (): Promise<void> => {
  const count = whole(process.argv[2], 100_000)
  const seed = whole(process.argv[3], 1)
  const jobs: Array<Job> = []
  for (let done = 0; done < count; done += CHUNK)
    jobs.push({ seed: seed * 1_000_003 + jobs.length, count: Math.min(CHUNK, count - done) })
  const began = performance.now()
  let figures: Figures = none
  let failure: string | undefined
  let told = 0
  const worker = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const child = fork(import.meta.filename, ["--worker"], {
        execArgv: ["--conditions=@varve/source"]
      })
      const next = (): void => {
        const job = failure === undefined ? jobs.shift() : undefined
        if (job === undefined) child.disconnect()
        else child.send(job)
      }
      child.on("message", (done: Awaited<ReturnType<typeof runChunk>>) => {
        figures = sum(figures, done.figures)
        failure ??= done.failure
        if (figures.triples >= told + count / 10) {
          told = figures.triples
          const { committing, triples } = figures
          const took = ((performance.now() - began) / 1000).toFixed(0)
          console.log(`${triples} triples, ${percent(committing, triples)} commit, ${took} s`)
        }
        next()
      })
      child.on("error", reject)
      child.on("exit", (code) =>
        code === 0 ? resolve() : reject(new Error(`a worker ended with ${code}`))
      )
      next()
    })
  await Promise.all(Array.from({ length: PROCESSES }, worker))
  if (failure !== undefined) {
    console.error(failure)
    process.exit(1)
  }
  const f = figures
  const share = (n: number) => percent(n, f.triples)
  if (f.committing * 3 < f.triples) {
    console.error(`only ${share(f.committing)} of the triples commit edits: they test too little`)
    process.exit(1)
  }
  console.log(
    `soak: ${f.triples} triples, ${f.requests} requests, no fault; ${share(f.committing)} commit ` +
      `(${share(f.byStrategies)} edits of strategies), the guard cuts in ${share(f.guarded)}, ` +
      `${share(f.overflowing)} overflow, ${((performance.now() - began) / 1000).toFixed(0)} s`
  )
}

if (process.argv[2] === "--worker") work()
else await main()
