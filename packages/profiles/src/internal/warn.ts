import type { Profile } from "@varve/core/Profile"

const warned = new Set<string>()

/** Says what a profile guesses, where it does: to the given function, or to the console once for each text. */
export const warn = (
  { warning }: Profile,
  onWarning: ((warning: string) => void) | undefined
): void => {
  if (warning === undefined) return
  if (onWarning !== undefined) return onWarning(warning)
  if (warned.has(warning)) return
  warned.add(warning)
  console.warn(`@varve/profiles: ${warning}`)
}
