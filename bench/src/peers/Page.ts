import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { PACKAGES, peersDir, versionOf, type Package } from "./Catalog.ts"
import type { CostPart } from "./Cost.ts"
import { costPage, goals, logsPage } from "./CostPage.ts"
import type { EstimatePart } from "./Estimates.ts"
import type { FaultTable } from "./Faults.ts"
import type { FootprintRow } from "./Footprint.ts"
import { details, percent, table } from "./Markdown.ts"
import { measured, type Measured } from "./Parts.ts"
import type { Peer } from "./Peer.ts"
import { bars } from "./Plot.ts"
import type { SpeedPart } from "./Speed.ts"
import { speedPage, speedPlot } from "./SpeedPage.ts"
import { slidingWindow } from "./Window.ts"

const svg = (name: string, text: string): void => writeFileSync(join(peersDir, `${name}.svg`), text)

const faultPage = (tables: ReadonlyArray<FaultTable>): string =>
  tables
    .map(({ input, rows }) =>
      [
        `**${input}**`,
        table(
          [
            "requests",
            "all",
            "failed",
            "invalid",
            "too many images",
            "too large among many",
            "too many bytes"
          ],
          rows.map((r) => [
            r.name,
            ...[r.requests, r.failed, r.invalid, r.images, r.edges, r.bytes].map(String)
          ])
        )
      ].join("\n\n")
    )
    .join("\n\n")

const estimatePage = ({ rows, sessions }: EstimatePart): string => {
  const mean = (values: ReadonlyArray<number | null>): number => {
    const known = values.filter((v) => v !== null)
    return known.reduce((a, b) => a + b, 0) / known.length
  }
  const listed = rows.map(({ anchored, increments, name }) => ({
    name,
    anchored: mean(anchored),
    increments: mean(increments)
  }))
  svg(
    "estimates",
    bars(
      "New tokens of a request: mean error",
      listed.map(({ increments, name }) => ({ name, value: increments, own: name === "varve" })),
      " %"
    )
  )
  const cells = (values: ReadonlyArray<number | null>): ReadonlyArray<string> =>
    values.map((value) => (value === null ? "–" : value.toFixed(3)))
  return [
    table(
      ["mean error, %", "whole context, anchored", "new tokens, 200 and more"],
      listed.map((row) => [row.name, row.anchored.toFixed(3), row.increments.toFixed(1)])
    ),
    "![Mean error of counting new tokens](estimates.svg)",
    details(
      "Each session: whole context at the next request, anchored at the last usage",
      table(
        ["%", ...rows.map(({ name }) => name)],
        sessions.map(({ name, requests }, i) => [
          `${name} (${requests})`,
          ...cells(rows.map(({ anchored }) => anchored[i] ?? null))
        ])
      )
    )
  ].join("\n\n")
}

const footprintPage = (rows: ReadonlyArray<FootprintRow>): string =>
  table(
    ["package", "version", "MB installed", "cold import, ms"],
    rows.map(({ importMs, mb, name, version }) => [
      name,
      version,
      mb.toFixed(1),
      importMs.toFixed(0)
    ])
  )

const peersPage = (
  published: ReadonlyArray<readonly [Package, ReadonlyArray<Peer>]>,
  missing: ReadonlyMap<string, string>
): string => {
  const rows = [
    ...published.flatMap(([one, peers]) =>
      peers.map((peer) => [`${one.name} ${versionOf(one)}`, peer] as const)
    ),
    ["–", slidingWindow as Peer] as const
  ]
  return [
    table(
      ["peer", "package", "compared as", "called at"],
      rows.map(([version, { hook, keeps, name, speedOnly }]) => [
        name,
        version,
        speedOnly === true ? "speed alone" : keeps,
        hook
      ]),
      "left"
    ),
    "How each was set so that it keeps the same, and what it can't do:",
    rows
      .filter(([, { speedOnly }]) => speedOnly !== true)
      .map(([, { lacks, name, settings }]) =>
        [`- **${name}.** ${settings}`, ...(lacks === undefined ? [] : [`_${lacks}_`])].join(" ")
      )
      .join("\n"),
    ...[...missing].map(([name, why]) => `Not there: \`${name}\` could not be installed (${why}).`)
  ].join("\n\n")
}

const goalsPage = (part: CostPart): string =>
  table(
    ["goal", "worst", "misses", "where"],
    goals(part).map(({ goal, misses, of, where, worst }) => [
      goal,
      percent(worst),
      `${misses} of ${of}`,
      where
    ])
  )

const costPlots = (part: CostPart): string => {
  const sheet = part.sheets.indexOf("opus-4.8")
  return (["results", "window", "summary"] as const)
    .map((kept) => {
      const one = part.tables.find(
        (t) => t.kept === kept && /100 steps, images of 1560/.test(t.input)
      )
      if (one === undefined) return ""
      const rows = one.rows.flatMap(({ costs, name, who }) => {
        const value = costs[sheet]
        return value === null || value === undefined ? [] : [{ name, value, own: who === "ours" }]
      })
      svg(`cost-${kept}`, bars(`${one.input}, ${kept}: USD with opus-4.8`, rows, ""))
      return `![Cost of a run, ${kept}](cost-${kept}.svg)`
    })
    .filter((text) => text !== "")
    .join("\n\n")
}

/** Writes the page of what was measured last. */
export const writePage = (
  published: ReadonlyArray<readonly [Package, ReadonlyArray<Peer>]>,
  missing: ReadonlyMap<string, string>
): void => {
  const cost = measured<CostPart>("cost")
  const speed = measured<SpeedPart>("speed")
  const faults = measured<ReadonlyArray<FaultTable>>("faults")
  const estimates = measured<EstimatePart>("estimates")
  const footprint = measured<ReadonlyArray<FootprintRow>>("footprint")
  const part = <A>(
    title: string,
    one: Measured<A> | undefined,
    intro: string,
    say: (result: A) => string
  ): string =>
    one === undefined
      ? ""
      : `## ${title}\n\n_${one.date}; ${one.cores} cores, Node ${one.node}; took ${one.seconds} s${one.quick ? "; a quick run" : ""}._\n\n${intro}\n\n${say(one.result)}`
  const page = [
    "# Beside the peers",
    "The same work through Varve and through what people would pick instead, as published. Written by `npm run peers`; don't edit. Read the ratios: everything is from one machine, and of a part from one run.",
    "## Who",
    "A peer is called at its own hook, without the runtime around it, so a real turn of its costs more. Four kinds of what is left can be compared: the newest **results** of tools with all that was said and called; the newest **calls** with their results and all that was said; a **window** of the newest messages; and a **summary** with the newest messages. Of GUI runs 3 steps stay, of the others 10; a summary has 1 500 tokens, made by a stand-in for a model that is the same for all and whose calls are billed, with the prompt that each makes. What acts at a mark has it at 60 000 tokens (coding 150 000, a real session half of what it had in the end). Varve is set to each kind: at every request it keeps at least what the peers are set to, and the task word for word. Its summaries are waited for, as the peers wait for theirs, and are in force in the same request (`hard` at the mark).",
    peersPage(published, missing),
    part(
      "Speed",
      speed,
      "A GUI run with screenshots of 133 KB of base64. The history is there; each request brings a call and a result. A session has 200 requests, or 15 s of them; up to 20 sessions, each with objects of its own, as long as there are 10 s. Medians, of the later half of the sessions (warm) and of the first (young: most of the time is the engine's, which has yet to compile what runs). A peer that takes longer than 60 s at a size is stopped. Varve counts tokens, keeps 3 images and guards with `hardLimit`: in every request, where each new image stages an edit and each tenth brings them into force (nothing to do: nothing new in force), and from the mark on that others have. What the peers get is already in their shape.",
      (result) => {
        svg("speed", speedPlot(result))
        return speedPage(result)
      }
    ),
    part(
      "Cost",
      cost,
      "`@varve/simulator` bills every request under the provider's cache rule and prices. Nobody's window is a limit here. “Immediate” brings each edit into force at once, “length known” is told how many requests the run has, the offline optimum knows the whole run. Newest images are what no peer can keep by themselves; Varve is held against batches of a fixed size there.",
      (result) =>
        [
          "### Goals",
          goalsPage(result),
          ...(result.logs.length === 0
            ? []
            : ["### Real sessions one by one", LOGS, logsPage(result)]),
          "### Everything",
          costPlots(result),
          costPage(result)
        ].join("\n\n")
    ),
    part(
      "Validity and limits",
      faults,
      "Requests that claude-haiku-4.5 would refuse: invalid where the host's own history was valid; more than 100 images; more than 20 images with one of more than 2 000 px; more than 32 MB. Peers as set above. None of them looks at images or bytes.",
      faultPage
    ),
    part(
      "Token estimates",
      estimates,
      "Against the usage that providers reported, on every real session that has it. All are anchored alike at the last usage; ours learns the ratio of the model as it goes. A peer's own count is taken as it is, a message at a time.",
      estimatePage
    ),
    part(
      "Install and import",
      footprint,
      "A folder with the package alone; a fresh process, median of five.",
      footprintPage
    )
  ]
  writeFileSync(join(peersDir, "README.md"), page.filter((text) => text !== "").join("\n\n") + "\n")
  console.error(`written: ${PACKAGES.length - missing.size} packages`)
}

const LOGS =
  "Held against the cheaper of doing nothing and editing at once, without and with marks. No rule that doesn't know the length can be within 2 % of doing nothing wherever a run may end and still beat fixed batches: see `packages/simulator/README.md`."
