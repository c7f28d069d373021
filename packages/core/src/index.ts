/**
 * Varve's core: the contracts and the walk. Everything here is also to be had from a file of its own, as in
 * `@varve/core/Edit`.
 */
export * as Commit from "./Commit.ts"
export * as Edit from "./Edit.ts"
export * as ImageSize from "./ImageSize.ts"
export * as Memory from "./Memory.ts"
export * as Pipeline from "./Pipeline.ts"
export * as Policy from "./Policy.ts"
export * as Registry from "./Registry.ts"
export * as Statement from "./Statement.ts"
export * as Trigger from "./Trigger.ts"
export { createMemory, type PlainMemory } from "./createMemory.ts"
export { estimateCounter, makeCounter, type Counter, type CounterMaker } from "./Counter.ts"
export { fileStore } from "./FileStore.ts"
export { hardLimit } from "./HardLimit.ts"
export { lift } from "./Lift.ts"
export { memoryStore, type Store } from "./Store.ts"
export { defaultProfile, type Profile } from "./Profile.ts"
export { strategy, type Strategy } from "./Strategy.ts"
export { clipSummarizer } from "./ClipSummarizer.ts"
export type { Summarizer } from "./Summarizer.ts"
export type { Block, Message } from "./Message.ts"
export type { Report } from "./Report.ts"
export type { View } from "./View.ts"
export type { VarveEvent } from "./VarveEvent.ts"
export {
  ConfigError,
  ContextOverflow,
  isVarveError,
  MemoryClosed,
  NotAvailable,
  StoreError,
  SummaryError
} from "./VarveError.ts"
export { conversationSummary } from "./ConversationSummary.ts"
export { stepMemory } from "./StepMemory.ts"
export { imageCard } from "./ImageCard.ts"
export { checkSummary } from "./SummaryCheck.ts"
