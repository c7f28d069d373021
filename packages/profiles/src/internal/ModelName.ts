import { bedrock, vertex, type Route } from "../data/routes.ts"
import type { ProviderFacts } from "./Facts.ts"
import { providers } from "./providers.ts"

/** A model's name, taken apart. */
export interface ModelName {
  /** The provider that the name itself states, innermost one first: `openrouter/anthropic/…` states anthropic. */
  readonly provider: ProviderFacts | undefined
  /** The host that it goes through, where that has limits of its own. */
  readonly route: Route | undefined
  /** The bare model in normal form: lower case, versions with a dot, no date, region or variant. */
  readonly model: string
  /** The bare model as it was written, in lower case: a dated version may have facts of its own. */
  readonly written: string
}

/** Amazon Bedrock's form: `us.anthropic.claude-sonnet-4-5-20250929-v1:0`. */
const bedrockForm =
  /^(?:(?:[a-z]{2}(?:-gov)?|apac|global)\.)?(anthropic|openai|xai|zai|moonshotai|moonshot|mistral|minimax|qwen|deepseek|meta|google)\.(.+?)(?:-v\d+)?(?::\d+)?$/

const providerNamed = (name: string): ProviderFacts | undefined =>
  providers.find((p) => p.provider === name || p.aliases.includes(name))

const routeNamed = (name: string): Route | undefined =>
  [bedrock, vertex].find((route) => route.names.includes(name))

/** The provider that a bare model name belongs to. */
export const providerOf = (model: string): ProviderFacts | undefined =>
  providers.find((p) => p.names.test(model))

/** The normal form of a bare model name. */
const normalModel = (model: string): string =>
  model
    .replace(/\[[^\]]*\]$/, "")
    .replace(/@[^@]*$/, "")
    .replace(/:[\w.-]+$/, "")
    .replace(/-(?:20\d{6}|20\d\d-\d\d-\d\d)(?=-|$)/, "")
    .replace(/-latest$/, "")
    // `4-5` is version 4.5, but for Anthropic's older order: `claude-4-5-sonnet` is `claude-sonnet-4.5`.
    .replace(/-(\d{1,2})-(\d{1,2})(?=-|$)/, "-$1.$2")
    .replace(/^claude-([4-9](?:\.\d+)?)-([a-z]+)/, "claude-$2-$1")

/** Takes a name apart. Any text will do; what is not known is simply not there. */
export const parseModelName = (name: string): ModelName => {
  const parts = name
    .trim()
    .toLowerCase()
    .replace(/^~/, "")
    .replace(/^ft:([^:]+).*$/, "$1")
    .split("/")
  const last = parts.pop() ?? ""
  let provider: ProviderFacts | undefined
  let route: Route | undefined
  for (const part of parts) {
    const known = providerNamed(part)
    if (known !== undefined) provider = known
    else route ??= routeNamed(part)
  }
  const form = bedrockForm.exec(last)
  if (form !== null) {
    provider = providerNamed(form[1] ?? "") ?? provider
    route ??= bedrock
  } else if (last.includes("@")) route ??= vertex
  const written = form?.[2] ?? last
  return { provider, route, model: normalModel(written), written }
}
