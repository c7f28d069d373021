export type { AdapterOptions } from "./AdapterOptions.ts"
export { createMiddleware, type Middleware, type ModelCall } from "./Middleware.ts"
export { createPrepareStep, type PrepareStep, type StepInput } from "./PrepareStep.ts"
export type { SdkMemory } from "./SdkMemory.ts"
