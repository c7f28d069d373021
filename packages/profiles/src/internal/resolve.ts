import type { Profile } from "@varve/core/Profile"
import { defaultProfile } from "@varve/core/Profile"
import { show } from "@varve/core/VarveError"
import { type ModelFacts, type ProviderFacts, reserveFor } from "./Facts.ts"
import { parseModelName, providerOf, type ModelName } from "./ModelName.ts"

interface Found {
  readonly provider: ProviderFacts
  /** The row's key. */
  readonly key: string
  readonly facts: ModelFacts
  /** The model's own name in normal form; the key, where it was met exactly. */
  readonly model: string
  readonly standsIn: boolean
}

/** Other spellings of a name that a provider's table may have it under. */
const spellings = (provider: ProviderFacts, model: string): ReadonlyArray<string> => {
  const names = [provider.provider, ...provider.aliases]
  const short = names.find((name) => model.startsWith(`${name}-`))
  const found = [
    model,
    ...names.map((name) => `${name}-${model}`),
    ...(short === undefined ? [] : [model.slice(short.length + 1)])
  ]
  return [...found, ...found.map((name) => name.replace(/\.0(?=-|$)/, ""))]
}

const hit = (
  provider: ProviderFacts,
  key: string,
  model: string,
  standsIn = false
): Found | undefined => {
  const facts = Object.hasOwn(provider.models, key) ? provider.models[key] : undefined
  return facts && { provider, key, facts, model, standsIn }
}

const exactOf = (provider: ProviderFacts, model: string): Found | undefined => {
  for (const name of spellings(provider, model)) {
    const found = hit(provider, name, name)
    if (found !== undefined) return found
  }
  return undefined
}

/** The longest key that the name starts with; a dot is no border, so that 5 is not taken for 5.7. */
const prefixOf = (provider: ProviderFacts, model: string): Found | undefined => {
  let best: Found | undefined
  for (const name of spellings(provider, model)) {
    for (const key of Object.keys(provider.models)) {
      if (name.startsWith(`${key}-`) && key.length > (best?.key.length ?? 0)) {
        best = hit(provider, key, name)
      }
    }
  }
  return best
}

const standInOf = (provider: ProviderFacts, model: string): Found | undefined => {
  const family = provider.standIns.find(([start]) => model.startsWith(start))
  return family && hit(provider, family[1], model, true)
}

const find = ({ provider: named, model, written }: ModelName): Found | undefined => {
  if (model === "") return undefined
  const own = providerOf(model)
  const tables = [named, own].filter((p) => p !== undefined)
  for (const table of tables) {
    const found = hit(table, written, written) ?? exactOf(table, model) ?? prefixOf(table, model)
    if (found !== undefined) return found
  }
  const last = own ?? named
  return last && standInOf(last, model)
}

/** The texts that are there, one after the other. */
const joined = (...texts: ReadonlyArray<string | undefined>): string =>
  texts.filter((text) => text !== undefined).join("; ")

/** The facts for a name, and what in them is a guess. */
export const resolve = (name: unknown): Profile => {
  const text = typeof name === "string" ? name : ""
  const parsed = parseModelName(text)
  const found = find(parsed)
  if (found === undefined) {
    return {
      ...defaultProfile,
      model: text.trim() || defaultProfile.model,
      warning:
        `No facts about the model ${show(name)}. Defaults hold: a window of ` +
        `${defaultProfile.contextWindow} tokens, ${defaultProfile.reserveOutput} kept free for the answer, ` +
        `no provider limits. Pass overrides where they differ.`
    }
  }
  const { provider, facts, key, standsIn } = found
  const model = `${provider.provider}/${found.model}`
  const route = parsed.route
  const ratio = facts.ratio ?? provider.ratio
  return {
    model,
    contextWindow: facts.window,
    reserveOutput:
      facts.input === undefined
        ? reserveFor(facts.window, facts.output)
        : facts.window - facts.input,
    vision: facts.vision ?? provider.vision,
    image: facts.image ?? provider.image,
    limits: {
      ...provider.limits,
      ...facts.limits,
      ...route?.limits,
      ...route?.of?.[provider.provider]
    },
    cache: { ...provider.cache, ...facts.cache },
    prices: facts.prices,
    reasoning: facts.reasoning ?? provider.reasoning,
    startsWithUser: route?.startsWithUser ?? provider.startsWithUser,
    ...(provider.alternates === true ? { alternates: true } : {}),
    encoding: facts.encoding ?? provider.encoding,
    ...(ratio === undefined ? {} : { ratio }),
    source: joined(
      standsIn ? `stand-in: facts of ${provider.provider}/${key}` : undefined,
      provider.source,
      facts.source,
      route?.source
    ),
    date: provider.date,
    ...(standsIn
      ? {
          warning:
            `No facts about the model ${show(name)}. Those of ${provider.provider}/${key} stand in for it. ` +
            `Pass overrides where they differ.`
        }
      : {})
  }
}
