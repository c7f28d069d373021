/** The name itself and what stands behind a provider, a router or a region: `azure/gpt-4o`, `us.anthropic.claude-…`. */
export const readings = (model: string): ReadonlyArray<string> => {
  const name = model.toLowerCase()
  const out = [name]
  for (let i = 0; i < name.length; i++) if ("/:.@".includes(name[i]!)) out.push(name.slice(i + 1))
  return out
}

/** What is listed for the longest beginning of a name, or of what stands behind a provider in front of it. */
export const lookup = <A>(map: Readonly<Record<string, A>>, model: string): A | undefined => {
  const prefixes = Object.keys(map)
  for (const name of readings(model)) {
    let best: string | undefined
    for (const prefix of prefixes) {
      if (prefix.length > (best?.length ?? -1) && name.startsWith(prefix.toLowerCase()))
        best = prefix
    }
    if (best !== undefined) return map[best]
  }
  return undefined
}
