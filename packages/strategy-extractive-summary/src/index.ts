export { extractiveSummarizer, extractiveSummary } from "./ExtractiveSummarizer.ts"
