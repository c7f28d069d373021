export * from "./RepeatedResults.ts"
