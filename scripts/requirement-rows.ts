// The rows of the requirements map, and what can be wrong with them.

export interface Row {
  /** `R1`…`R38` for a behaviour, `C1`…`C173` for a case from the field. */
  readonly id: string
  readonly text: string
  readonly proofs: ReadonlyArray<Proof>
  readonly at: string
}

export interface Proof {
  readonly file: string
  readonly title: string
}

/** All ids that the map has to have. */
export const ids: ReadonlyArray<string> = [
  ...Array.from({ length: 38 }, (_, i) => `R${i + 1}`),
  ...Array.from({ length: 173 }, (_, i) => `C${i + 1}`)
]

const proofsOf = (cell: string): ReadonlyArray<Proof> | undefined => {
  if (cell === "unproved") return []
  const proofs = cell.split("<br>").map((part) => /^`([^`>]+?) > (.+)`$/.exec(part.trim()))
  if (proofs.some((match) => match === null)) return undefined
  return proofs.map((match) => ({ file: match?.[1] ?? "", title: match?.[2] ?? "" }))
}

export const rowsOf = (file: string, table: string): ReadonlyArray<Row> =>
  table.split("\n").flatMap((line, index) => {
    const [before, id = "", text, cell, after] = line.split(/(?<!\\)\|/).map((part) => part.trim())
    if (before !== "" || after !== "" || !/^[RC]\d+$/.test(id)) return []
    const at = `${file}:${index + 1}`
    const proof = (cell ?? "").replaceAll("\\|", "|")
    const proofs = proofsOf(proof) ?? [{ file: "", title: proof }]
    return [{ id, text: text ?? "", proofs, at }]
  })

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")

/** Whether a source calls something live with that title: not commented out, skipped or a to-do. */
const hasCall = (source: string, title: string): boolean => {
  const call = new RegExp(`(\\S*)\\(\\s*(["'\`])${escaped(title)}\\2`, "g")
  return [...source.matchAll(call)].some(({ 1: callee = "", index }) => {
    const line = source.slice(source.lastIndexOf("\n", index) + 1, index)
    return !/^\s*(\/\/|\*)/.test(`${line}${callee}`) && !/\.(skip|todo|fails)\b/.test(callee)
  })
}

/** Whether a test file has a test of that title, or of that title behind its groups' titles. */
export const hasTest = (source: string, title: string): boolean =>
  hasCall(source, title) || title.split(" > ").every((part) => hasCall(source, part))

export const problemsOf = (
  rows: ReadonlyArray<Row>,
  read: (file: string) => string | undefined
): ReadonlyArray<string> => {
  const problems: Array<string> = []
  for (const id of ids) {
    const count = rows.filter((row) => row.id === id).length
    if (count !== 1) problems.push(`${id} is in the map ${count} times; it has one row`)
  }
  for (const { at, id, proofs } of rows) {
    if (!ids.includes(id)) problems.push(`${at}: there is no ${id}`)
    for (const { file, title } of proofs) {
      const source = file === "" ? undefined : read(file)
      if (file === "") {
        problems.push(`${at}: ${id}: "${title}" is neither \`FILE > TEST\` nor unproved`)
      } else if (source === undefined) {
        problems.push(`${at}: ${id}: its test file ${file} is gone`)
      } else if (!hasTest(source, title)) {
        problems.push(`${at}: ${id}: ${file} has no live test "${title}"`)
      }
    }
  }
  return problems
}
