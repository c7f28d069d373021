export { screenshots, type ScreenshotsOptions } from "./Screenshots.ts"
