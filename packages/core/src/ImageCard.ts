import type { ImageRef, View } from "./View.ts"

/** `success` and `failed` as a card says them. */
const outcome = { success: "succeeded", failed: "failed", pending: "pending" } as const

/**
 * The text that stands for an image: its step with goal and outcome where known, its size in px, why it
 * left, and the id for `recall`. The same image gives the same text.
 */
export const imageCard = (image: ImageRef, view: Pick<View, "stepOf">, reason: string): string => {
  const step = image.callId === undefined ? undefined : view.stepOf(image.callId)
  const parts = ["image"]
  if (image.original !== undefined) parts[0] += ` ${image.original.width}x${image.original.height}`
  if (step !== undefined) {
    parts.push(
      `step ${step.step}, ${outcome[step.status]}: ${JSON.stringify(step.goal.slice(0, 80))}`
    )
  }
  parts.push(reason, `recall ${image.block}`)
  return `[${parts.join("; ")}]`
}
