export { codingAgent, type CodingAgentOptions } from "./CodingAgent.ts"
