// The table of installed sizes in the README: written and checked by release-dry.ts.

/** What `npm install NAME` brings. Bytes are bytes on disk. */
export interface Footprint {
  readonly name: string
  /** How many packages, itself included. */
  readonly packages: number
  readonly own: number
  readonly effect: number
  readonly total: number
}

const BEGIN = "<!-- sizes: written by `npm run release:dry -- --write` -->"
const END = "<!-- /sizes -->"

const mb = (bytes: number): string => (bytes / 1e6).toFixed(bytes < 995_000 ? 2 : 1)

const row = ({ name, own, packages, total, effect }: Footprint): ReadonlyArray<string> => [
  `\`${name}\``,
  String(packages),
  `${mb(own)} MB`,
  `${mb(total - effect)} MB`,
  `${mb(total)} MB`
]

const head = ["`npm install`", "packages", "itself", "all but Effect", "all"]

const table = (all: ReadonlyArray<Footprint>): string => {
  const rows = [head, ...all.map(row)]
  const widths = head.map((_, i) => Math.max(...rows.map((cells) => cells[i]!.length)))
  const line = (cells: ReadonlyArray<string>) =>
    `| ${cells.map((cell, i) => cell.padEnd(widths[i]!)).join(" | ")} |`
  return [line(head), `| ${widths.map((n) => "-".repeat(n)).join(" | ")} |`]
    .concat(rows.slice(1).map(line))
    .join("\n")
}

const between = (readme: string): readonly [number, number] | undefined => {
  const from = readme.indexOf(BEGIN)
  const to = readme.indexOf(END)
  return from < 0 || to < from ? undefined : [from + BEGIN.length, to]
}

/** The README with the table of now. Throws where it has no place for one. */
export const withTable = (readme: string, all: ReadonlyArray<Footprint>): string => {
  const place = between(readme)
  if (place === undefined) throw new Error(`README.md has no lines ${BEGIN} and ${END}`)
  return `${readme.slice(0, place[0])}\n\n${table(all)}\n\n${readme.slice(place[1])}`
}

const figures = (text: string): ReadonlyMap<string, ReadonlyArray<number>> =>
  new Map(
    text.split("\n").flatMap((line) => {
      const [name = "", ...cells] = line
        .split("|")
        .map((cell) => cell.trim())
        .filter((cell) => cell !== "")
      return name.startsWith("`@") ? [[name, cells.map(Number.parseFloat)] as const] : []
    })
  )

/** How far a size may be from what the README says, as a share. */
const TOLERANCE = 0.25

const isNear = (said: number | undefined, is: number): boolean =>
  said !== undefined && Math.abs(said - is) <= Math.max(0.02, is * TOLERANCE)

/** The rows of the README that are no longer true: another number of packages, or sizes a quarter off. */
export const staleRows = (readme: string, all: ReadonlyArray<Footprint>): ReadonlyArray<string> => {
  const place = between(readme)
  const said = figures(place === undefined ? "" : readme.slice(...place))
  const now = figures(table(all))
  return [...now].flatMap(([name, [packages, ...sizes]]) => {
    const [saidPackages, ...saidSizes] = said.get(name) ?? []
    const holds =
      saidPackages === packages && sizes.slice(0, 3).every((size, i) => isNear(saidSizes[i], size))
    return holds ? [] : [name]
  })
}
