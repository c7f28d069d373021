export { maskToolResults, type MaskToolResultsOptions } from "./MaskToolResults.ts"
