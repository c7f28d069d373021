/** Reads a prompt as its first line says: by the tags that end in the mark, and by nothing else. */
export const recordOf = (prompt: string) => {
  const mark = /^The record stands in tags that end in (-[\da-f]{12})\./.exec(prompt)![1]!
  const found: Array<{ tag: string; from: string | undefined; text: string }> = []
  const open = new RegExp(`<(\\w+)${mark}(?: from=("(?:[^"\\\\]|\\\\.)*"))?>\n`, "g")
  for (let match = open.exec(prompt); match !== null; match = open.exec(prompt)) {
    const [head, tag, from] = match
    const start = match.index + head.length
    const end = prompt.indexOf(`\n</${tag}${mark}>`, start)
    found.push({
      tag: tag!,
      from: from === undefined ? undefined : (JSON.parse(from) as string),
      text: prompt.slice(start, end)
    })
    open.lastIndex = end
  }
  return { mark, found }
}
