export * from "./Classify.ts"
export * from "./FromPi.ts"
export * from "./ProfileOverrides.ts"
export * from "./Profiles.ts"
