export { costOf, tierOf } from "./Bill.ts"
export { CacheModel, type Billed, type CacheKind, type Piece } from "./CacheModel.ts"
export { piecesOf } from "./Pieces.ts"
export {
  interval,
  keepImages,
  memoryPolicy,
  nothing,
  slide,
  whenItPays,
  type Policy
} from "./Policy.ts"
export { simulate, type Simulated, type SimulateOptions } from "./simulate.ts"
export { codingRun, guiRun, syntheticCounter } from "./Synthetic.ts"
export { traceOf, type SessionLike, type Trace } from "./Trace.ts"
