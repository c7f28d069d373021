export { defineAgents, type DefineOptions } from "./defineAgents.ts"
export { load, type LoadOptions } from "./load.ts"
export { AgentsJson } from "./AgentsJson.ts"
export type {
  AgentConfig,
  AgentNames,
  Agents,
  Parts,
  Preset,
  SessionOptions
} from "./AgentConfig.ts"
