/** Reads a prompt as its first line says: by the lines that begin with the mark, and by nothing else. */
export const recordOf = (prompt: string) => {
  const mark = /^Each text of the record stands behind a line that begins with (#[\da-f]{6}),/.exec(
    prompt
  )![1]!
  const found: Array<{ tag: string; from: string | undefined; text: string }> = []
  const [, ...lists] = prompt.split(`\n${mark} `)
  for (const entry of lists) {
    const at = entry.indexOf("\n")
    const name = entry.slice(0, at)
    if (name === "end") continue
    const isItem = name.startsWith('"')
    found.push({
      tag: isItem ? "item" : name,
      from: isItem ? (JSON.parse(name) as string) : undefined,
      text: entry.slice(at + 1)
    })
  }
  return { mark, found }
}
