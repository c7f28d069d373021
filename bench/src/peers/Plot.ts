/** Small plots as SVG. Text and lines take the colour of the page's theme, so that both light and dark work. */

const STYLE =
  "<style>text{font:12px system-ui,sans-serif;fill:#444}.g{stroke:#8884;stroke-width:1}" +
  ".t{font-weight:600;fill:#222}@media (prefers-color-scheme:dark){text{fill:#bbb}.t{fill:#eee}}</style>"

/** Colours that stand out on white and on black; the first is ours. */
const COLOURS = [
  "#d9480f",
  "#1c7ed6",
  "#2f9e44",
  "#9c36b5",
  "#e67700",
  "#0c8599",
  "#c2255c",
  "#5c940d",
  "#6741d9",
  "#868e96",
  "#a0522d",
  "#1098ad"
]

const escape = (text: string): string =>
  text.replace(/[&<>]/g, (c) => (c === "&" ? "&amp;" : c === "<" ? "&lt;" : "&gt;"))

const svg = (width: number, height: number, title: string, body: ReadonlyArray<string>): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" ` +
  `aria-label="${escape(title)}">${STYLE}\n<text class="t" x="12" y="20">${escape(title)}</text>\n` +
  `${body.join("\n")}\n</svg>\n`

const text = (x: number, y: number, say: string, anchor = "start"): string =>
  `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" text-anchor="${anchor}">${escape(say)}</text>`

/** A figure with as many digits as it needs. */
export const short = (n: number): string =>
  n >= 100 ? n.toFixed(0) : n >= 10 ? n.toFixed(1) : n >= 0.1 ? n.toFixed(2) : n.toPrecision(2)

/** One line of a plot: its points, in order. */
export interface Series {
  readonly name: string
  readonly points: ReadonlyArray<readonly [number, number]>
}

/** Lines over two logarithmic axes. */
export const lines = (
  title: string,
  series: ReadonlyArray<Series>,
  { x, y }: { readonly x: string; readonly y: string }
): string => {
  const [left, top, width, height] = [60, 36, 420, 300]
  const all = series.flatMap(({ points }) => points)
  const exponents = (i: 0 | 1): readonly [number, number] => {
    const logs = all.map((p) => Math.log10(p[i]))
    return [Math.floor(Math.min(...logs)), Math.ceil(Math.max(...logs))]
  }
  const [x0, x1] = exponents(0)
  const [y0, y1] = exponents(1)
  const atX = (v: number): number => left + ((Math.log10(v) - x0) / Math.max(1, x1 - x0)) * width
  const atY = (v: number): number =>
    top + height - ((Math.log10(v) - y0) / Math.max(1, y1 - y0)) * height
  const body: Array<string> = []
  for (let e = x0; e <= x1; e++) {
    const at = atX(10 ** e)
    body.push(`<path class="g" d="M${at} ${top}V${top + height}"/>`)
    body.push(text(at, top + height + 18, (10 ** e).toLocaleString("en"), "middle"))
  }
  for (let e = y0; e <= y1; e++) {
    const at = atY(10 ** e)
    body.push(`<path class="g" d="M${left} ${at}H${left + width}"/>`)
    body.push(text(left - 6, at + 4, String(Number((10 ** e).toPrecision(1))), "end"))
  }
  body.push(text(left + width / 2, top + height + 36, x, "middle"), text(12, top - 4, y))
  series.forEach(({ name, points }, i) => {
    const colour = COLOURS[i % COLOURS.length]!
    const path = points.map(
      ([a, b], j) => `${j === 0 ? "M" : "L"}${atX(a).toFixed(1)} ${atY(b).toFixed(1)}`
    )
    const bold = i === 0 ? 3 : 1.5
    body.push(`<path d="${path.join("")}" fill="none" stroke="${colour}" stroke-width="${bold}"/>`)
    for (const [a, b] of points)
      body.push(
        `<circle cx="${atX(a).toFixed(1)}" cy="${atY(b).toFixed(1)}" r="3" fill="${colour}"/>`
      )
    const at = top + 10 + 20 * i
    body.push(
      `<path d="M${left + width + 16} ${at}h18" stroke="${colour}" stroke-width="${bold + 1}"/>`
    )
    body.push(text(left + width + 40, at + 4, name))
  })
  return svg(left + width + 290, top + height + 48, title, body)
}

/** Bars, one a row, each with its figure. */
export const bars = (
  title: string,
  rows: ReadonlyArray<{ readonly name: string; readonly value: number; readonly own: boolean }>,
  unit: string
): string => {
  const [left, top, width, step] = [250, 34, 380, 22]
  const most = Math.max(...rows.map(({ value }) => value))
  const body = rows.flatMap(({ name, own, value }, i) => {
    const at = top + step * i
    const long = Math.max(1, (value / most) * width)
    return [
      text(left - 8, at + 14, name, "end"),
      `<rect x="${left}" y="${at + 3}" width="${long.toFixed(1)}" height="${step - 8}" rx="2" ` +
        `fill="${own ? COLOURS[0] : COLOURS[1]}"/>`,
      text(left + long + 6, at + 14, `${short(value)}${unit}`)
    ]
  })
  return svg(left + width + 90, top + step * rows.length + 12, title, body)
}
