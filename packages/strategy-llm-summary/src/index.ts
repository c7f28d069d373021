/** Summaries by a model, for the strategies of `@varve/core` that take a `summarizer`. */
export { fallbackSummarizer } from "./FallbackSummarizer.ts"
export {
  type Complete,
  type ModelAnswer,
  type ModelRequest,
  modelSummarizer,
  type ModelSummarizerOptions
} from "./ModelSummarizer.ts"
