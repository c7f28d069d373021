import type { ProviderFacts } from "./Facts.ts"
import { anthropic } from "../data/anthropic.ts"
import { deepseek } from "../data/deepseek.ts"
import { google } from "../data/google.ts"
import { meta } from "../data/meta.ts"
import { minimax } from "../data/minimax.ts"
import { mistral } from "../data/mistral.ts"
import { moonshotai } from "../data/moonshotai.ts"
import { openai } from "../data/openai.ts"
import { qwen } from "../data/qwen.ts"
import { xai } from "../data/xai.ts"
import { xiaomi } from "../data/xiaomi.ts"
import { zai } from "../data/zai.ts"

/** Every provider whose facts are here. */
export const providers: ReadonlyArray<ProviderFacts> = [
  anthropic,
  openai,
  google,
  xai,
  deepseek,
  moonshotai,
  zai,
  qwen,
  minimax,
  mistral,
  xiaomi,
  meta
]
