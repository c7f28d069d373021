export { memoryMiddleware, type MemoryMiddlewareOptions } from "./MemoryMiddleware.ts"
export type {
  AgentRuntime,
  LangChainMemory,
  MemoryFor,
  MemoryMiddleware,
  ModelCall
} from "./LangChainAgent.ts"
