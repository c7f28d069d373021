/** A table of Markdown: the first column to the left, the others to the right. */
export const table = (
  head: ReadonlyArray<string>,
  rows: ReadonlyArray<ReadonlyArray<string>>,
  align: "right" | "left" = "right"
): string => {
  const clean = (cell: string): string => cell.replace(/\|/g, "\\|").replace(/\n/g, " ")
  const all = [head, ...rows].map((row) => row.map(clean))
  const widths = head.map((_, i) => Math.max(3, ...all.map((row) => (row[i] ?? "").length)))
  const isRight = (i: number): boolean => i > 0 && align === "right"
  const line = (row: ReadonlyArray<string>): string =>
    `| ${row.map((cell, i) => (isRight(i) ? cell.padStart(widths[i]!) : cell.padEnd(widths[i]!))).join(" | ")} |`
  const rule = `| ${widths.map((w, i) => (isRight(i) ? `${"-".repeat(w - 1)}:` : "-".repeat(w))).join(" | ")} |`
  return [line(all[0]!), rule, ...all.slice(1).map(line)].join("\n")
}

/** A part that a reader opens where it matters to them. */
export const details = (summary: string, body: string): string =>
  `<details>\n<summary>${summary}</summary>\n\n${body}\n\n</details>`

export const percent = (share: number, digits = 1): string => {
  const text = (100 * share).toFixed(digits)
  return `${Number(text) > 0 ? "+" : ""}${Number(text) === 0 ? (0).toFixed(digits) : text} %`
}

export const usd = (cost: number | null): string =>
  cost === null
    ? "–"
    : cost >= 100
      ? cost.toFixed(1)
      : cost >= 1
        ? cost.toFixed(2)
        : cost.toFixed(3)
