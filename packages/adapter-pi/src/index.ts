export { attach, type AttachOptions } from "./Attach.ts"
export { createTransformContext } from "./TransformContext.ts"
export type { OnPayload, PiAgent, PiEvent, PiMemory, TransformContext } from "./PiAgent.ts"
