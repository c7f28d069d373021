import { details, table } from "./Markdown.ts"
import { lines, short } from "./Plot.ts"
import type { Speed, SpeedPart, SpeedRow, Times } from "./Speed.ts"

type When = "young" | "warm"

const timesOf = (speed: Speed | string | undefined, when: When): Times =>
  speed === undefined || typeof speed === "string" ? { idle: null, acting: null } : speed[when]

/** What every request costs at least: with nothing to do, where there is such a request. */
const usual = (speed: Speed | string | undefined, when: When = "warm"): number | null => {
  const { acting, idle } = timesOf(speed, when)
  return idle ?? acting
}

/** How the time grows: the slope of its logarithm over that of the number of messages. */
const exponent = ({ speeds }: SpeedRow, sizes: ReadonlyArray<number>, when: When): string => {
  const points = speeds.flatMap((speed, i) => {
    const ms = usual(speed, when)
    return ms === null ? [] : [[Math.log(sizes[i]!), Math.log(ms)] as const]
  })
  if (points.length < 2) return "–"
  const mean = (i: 0 | 1): number => points.reduce((s, p) => s + p[i], 0) / points.length
  const [mx, my] = [mean(0), mean(1)]
  const up = points.reduce((s, [x, y]) => s + (x - mx) * (y - my), 0)
  return (up / points.reduce((s, [x]) => s + (x - mx) ** 2, 0)).toFixed(2)
}

const messages = (sizes: ReadonlyArray<number>): ReadonlyArray<string> =>
  sizes.map((n) => `${n.toLocaleString("en")} messages`)

const shown = (ms: number | null): string => (ms === null ? "–" : short(ms))

const timesTable = ({ rows, sizes }: SpeedPart, when: When): string => {
  const cell = (speed: Speed | string): string => {
    if (typeof speed === "string") return speed
    return `${shown(speed[when].idle)} / ${shown(speed[when].acting)}`
  }
  return table(
    ["ms: nothing to do / something to do", ...messages(sizes), "exponent"],
    rows.map((row) => [row.name, ...row.speeds.map(cell), exponent(row, sizes, when)])
  )
}

/** ms that a request of ours may take, by the number of messages. */
const MOST: Readonly<Record<keyof Times, Readonly<Record<number, number>>>> = {
  idle: { 1000: 0.05, 10_000: 0.5, 100_000: 6 },
  acting: { 1000: 0.3, 10_000: 3, 100_000: 40 }
}

/** What a request of ours takes that does as much as one of theirs: nothing, or what there is to do each time. */
const like = (
  [each, atMark]: ReadonlyArray<SpeedRow>,
  theirs: Speed | string | undefined,
  i: number,
  when: When = "warm"
): number | null => usual((timesOf(theirs, when).idle === null ? each : atMark)?.speeds[i], when)

/** How many times as long a request of theirs is to take: with nothing to do, or where they act in every request. */
const LEAST: ReadonlyArray<readonly [string, number]> = [
  ["pi compaction, no usage reported", 3],
  ["AI SDK pruneMessages", 10],
  ["Mastra TokenLimiter, best-fit", 100],
  // The one of them that counts what it is given; by tokens it looks its figures up in a table.
  ["LangChain trimMessages, by its own count", 200]
]

const marked = (text: string, isMet: boolean): string => (isMet ? text : `**${text}**`)

/** What we want of ourselves; what is missed is bold. */
const goalsTable = ({ rows, sizes }: SpeedPart): string => {
  const [each, atMark] = rows
  const at = sizes.flatMap((size, i) => (size in MOST.idle ? [i] : []))
  const both = (say: (i: number, when: When) => string) =>
    at.map((i) => `${say(i, "warm")} / ${say(i, "young")}`)
  const within = (what: keyof Times) =>
    both((i, when) => {
      const ms = timesOf((what === "idle" ? atMark : each)?.speeds[i], when)[what]
      return ms === null ? "–" : marked(short(ms), ms <= MOST[what][sizes[i]!]!)
    })
  const times = (name: string, least: number) => {
    const peer = rows.find((row) => row.name === name)
    return both((i, when) => {
      if (peer?.speeds[i] === "> 60 s") return "too slow"
      const theirs = usual(peer?.speeds[i], when)
      const ours = like(rows, peer?.speeds[i], i, when)
      if (ours === null || theirs === null) return "–"
      return marked(`${short(theirs / ours)}x`, theirs / ours >= least)
    })
  }
  const limits = (what: keyof Times): string => at.map((i) => MOST[what][sizes[i]!]!).join(", ")
  return table(
    ["goal: warm / young", ...messages(at.map((i) => sizes[i]!))],
    [
      [`nothing to do: at most ${limits("idle")} ms`, ...within("idle")],
      [`something to do: at most ${limits("acting")} ms`, ...within("acting")],
      ...LEAST.map(([name, least]) => [`${name}: at least ${least}x`, ...times(name, least)])
    ]
  )
}

/** The time of a request by the number of messages. */
export const speedPlot = ({ rows, sizes }: SpeedPart): string =>
  lines(
    "A request, by the length of the history",
    rows.map(({ name, speeds }) => ({
      name,
      points: speeds.flatMap((speed, i) => {
        const ms = usual(speed)
        return ms === null ? [] : [[sizes[i]!, Math.max(ms, 1e-4)] as const]
      })
    })),
    { x: "messages", y: "ms" }
  )

export const speedPage = (part: SpeedPart): string => {
  const faster = part.rows
    .slice(2)
    .flatMap(({ name, speeds }) =>
      speeds.some((speed, i) => (usual(speed) ?? Infinity) < (like(part.rows, speed, i) ?? 0))
        ? [name]
        : []
    )
  return [
    timesTable(part, "warm"),
    "![Time of a request by the number of messages](speed.svg)",
    `**Faster than Varve at some size:** ${faster.length === 0 ? "none" : faster.join(", ")}. ` +
      "What only looks at the usage that the provider reported, or cuts a list, does less: it counts nothing, keeps no record of what it took away, and checks nothing.",
    "What we want of ourselves, and of the time of others as a multiple of ours; what is missed is bold. With nothing to do: from a mark on, below it. Who acts in every request is held against Varve that does so too.",
    goalsTable(part),
    details("In a young process", timesTable(part, "young"))
  ].join("\n\n")
}
