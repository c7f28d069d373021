export { guiAgent, type GuiAgentOptions } from "./GuiAgent.ts"
export { classic, classicCounter, guiClassic, type GuiClassicOptions } from "./GuiClassic.ts"
