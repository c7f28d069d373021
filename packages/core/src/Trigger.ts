import { isMark, isShare, isTrigger } from "./internal/checks.ts"
import type { View } from "./View.ts"

/**
 * A predicate on a view: says when a strategy runs, or that a target is met. Those of this module throw
 * `ConfigError` where a mark is no number of at least 0, a share not above 0 and at most 1, a trigger no
 * function.
 */
export type Trigger = (view: View) => boolean

/** True from so many tokens on. */
export const tokens = (atLeast: number): Trigger => {
  isMark("Trigger.tokens", atLeast)
  return (view) => view.usage.tokens >= atLeast
}

/** True from this share of the token limit on, as in 0.7. */
export const share = (atLeast: number): Trigger => {
  isShare("Trigger.share", atLeast)
  return (view) => view.usage.tokens >= atLeast * view.limits.tokens
}

/** True from so many images on. */
export const images = (atLeast: number): Trigger => {
  isMark("Trigger.images", atLeast)
  return (view) => view.usage.images >= atLeast
}

/** True from so many bytes of request on. */
export const bytes = (atLeast: number): Trigger => {
  isMark("Trigger.bytes", atLeast)
  return (view) => view.usage.requestBytes >= atLeast
}

/** True from so many messages on. */
export const messages = (atLeast: number): Trigger => {
  isMark("Trigger.messages", atLeast)
  return (view) => view.usage.messages >= atLeast
}

/** True from so many groups on. */
export const groups = (atLeast: number): Trigger => {
  isMark("Trigger.groups", atLeast)
  return (view) => view.groups.length >= atLeast
}

/** True from so many turns on. */
export const turns = (atLeast: number): Trigger => {
  isMark("Trigger.turns", atLeast)
  return (view) => view.turns >= atLeast
}

/** True from so many steps on. */
export const steps = (atLeast: number): Trigger => {
  isMark("Trigger.steps", atLeast)
  return (view) => view.steps.length >= atLeast
}

/** True where the provider's cache of this session has expired or there is none, so that an edit re-writes nothing. */
export const cacheCold: Trigger = (view) => view.cacheCold

/**
 * True where all of these are.
 *
 * @example
 * ```ts
 * import * as Trigger from "@varve/core/Trigger"
 *
 * const busy = Trigger.and(Trigger.share(0.6), Trigger.not(Trigger.images(3)))
 * console.log(typeof busy) // => function
 * ```
 */
export const and = (...triggers: ReadonlyArray<Trigger>): Trigger => {
  triggers.forEach((t, i) => isTrigger(`Trigger.and[${i}]`, t))
  return (view) => triggers.every((t) => t(view))
}

/** True where any of these is. */
export const or = (...triggers: ReadonlyArray<Trigger>): Trigger => {
  triggers.forEach((t, i) => isTrigger(`Trigger.or[${i}]`, t))
  return (view) => triggers.some((t) => t(view))
}

/** True where this is not. */
export const not = (trigger: Trigger): Trigger => {
  isTrigger("Trigger.not", trigger)
  return (view) => !trigger(view)
}
