export { compaction, memoryInSystemPrompt, type CompactionOptions } from "./Baselines.ts"
export { costOf } from "./Bill.ts"
export { CacheModel, cacheKindOf, type Billed, type CacheKind, type Piece } from "./CacheModel.ts"
export { optimum, type Optimum, type OptimumOptions, type PlannedCommit } from "./Optimum.ts"
export { piecesOf } from "./Pieces.ts"
export {
  interval,
  memoryPolicy,
  nothing,
  planned,
  slide,
  whenItPays,
  type Answer,
  type Keep,
  type Policy,
  type PolicyOptions
} from "./Policy.ts"
export { clipResults, keepImages } from "./Retention.ts"
export { simulate, type Simulated, type SimulateOptions } from "./simulate.ts"
export { codingRun, guiRun, syntheticCounter, type CodingRun, type GuiRun } from "./Synthetic.ts"
export { traceOf, type SessionLike, type Trace, type TraceRequest } from "./Trace.ts"
export { validate, type BilledSession, type Validation } from "./Validation.ts"
