import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import type { Edit, Proposal } from "../Edit.ts"
import type { Block } from "../Message.ts"
import { imageOf } from "../Message.ts"
import type { Redact } from "../Redact.ts"
import { redactEscaped } from "../Redact.ts"
import { show } from "../VarveError.ts"
import { errorText } from "./box.ts"

/** Stands for a text that could not be redacted: it is left out rather than shown. */
const FAILED = "[left out: redact failed]"

/** What a host gave, so that it can't fail, nor miss what is escaped. `warn` is told once where it fails. */
export const safeRedact = (given: Redact, warn: (message: string) => void): Redact => {
  let told = false
  const failed = (how: string): string => {
    if (!told) warn(`redact ${how}; where it does, the whole text is left out`)
    told = true
    return FAILED
  }
  return redactEscaped((text) => {
    try {
      const out: unknown = given(text)
      return typeof out === "string" ? out : failed(`gave ${show(out)}, not a text`)
    } catch (error) {
      // What it says may hold the text that nobody may see.
      return failed(`threw ${error instanceof Error ? error.name : typeof error}`)
    }
  })
}

/** JSON with another text for each of its texts, names of fields too. */
export const mapTexts = (value: unknown, change: Redact): unknown => {
  if (typeof value === "string") return change(value)
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, change))
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [change(key), mapTexts(item, change)])
  )
}

/** The same for any value that can be JSON. */
export const textsOf = (value: unknown, redact: Redact): unknown =>
  value === undefined ? undefined : mapTexts(JSON.parse(JSON.stringify(value)), redact)

const redactBlock = (block: Block, redact: Redact): Block => {
  if (typeof block !== "object" || block === null || imageOf(block) !== undefined) return block
  if (block.type === "text" && typeof block.text === "string")
    return { ...block, text: redact(block.text) }
  if (block.type === "toolCall") return { ...block, arguments: textsOf(block.arguments, redact) }
  return block
}

const redactEdit = (edit: Edit, redact: Redact): Edit => {
  try {
    if (edit.kind === "replace") return { ...edit, to: edit.to.map((b) => redactBlock(b, redact)) }
    const text = typeof edit.text === "string" ? redact(edit.text) : edit.text
    return {
      ...edit,
      text,
      ...(edit.data === undefined ? {} : { data: textsOf(edit.data, redact) })
    }
  } catch {
    // No edit, or not JSON: the gate refuses it and says so.
    return undefined as unknown as Edit
  }
}

/** A strategy's answer, or its failure, without what nobody may see. Nonsense stays nonsense. */
export const redactAnswer = (
  answer: Effect.Effect<ReadonlyArray<Proposal>, unknown>,
  redact: Redact
): Effect.Effect<ReadonlyArray<Proposal>, unknown> =>
  answer.pipe(
    Effect.map((given) =>
      Array.isArray(given) ? given.map((p: Proposal) => redactProposal(p, redact)) : given
    ),
    Effect.catchCause((cause) =>
      Cause.hasInterrupts(cause)
        ? Effect.failCause(cause)
        : Effect.fail(redactError(Cause.squash(cause), redact))
    )
  )

const redactProposal = (proposal: Proposal, redact: Redact): Proposal => {
  if (!Array.isArray(proposal?.edits)) return proposal
  const { atomic, edits, reason } = proposal
  return {
    edits: edits.map((edit) => redactEdit(edit, redact)),
    reason: typeof reason === "string" ? redact(reason) : reason,
    ...(atomic === undefined ? {} : { atomic })
  }
}

const redactError = (error: unknown, redact: Redact): Error => {
  // Before it is cut: half of a secret is not found any more.
  const { message, name } =
    error instanceof Error ? error : { message: errorText(error, redact), name: "Error" }
  return Object.assign(new Error(redact(message)), { name })
}
