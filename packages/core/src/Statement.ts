import { ends, ERROR, LINE_BREAK, NAMED_ERROR, short } from "./internal/statements.ts"

/** What a sentence is to the one who has to remember it. */
export type StatementKind = "constraint" | "decision" | "error" | "outcome"

/** Longer sentences are clipped, in UTF-16 units. */
const LONGEST = 400

/** Texts longer than this are read at their head and their tail only, in UTF-16 units. */
const LOOKED_AT = 65_536

const CONSTRAINT = new RegExp(
  [
    String.raw`\b(?:never|always|must|mustn't|mandatory|forbidden|prohibited|not allowed|make sure|be sure|ensure|avoid|under no circumstances|at most|at least|no (?:more|less|later) than|should(?:n't| not)|(?:may|can|shall) not|ask (?:me )?(?:first|before)|without (?:asking|my|permission|confirm\w+)|(?:unless|until|before) i)\b`,
    String.raw`(?:^|[,;:.–—-]\s*|\b(?:please|and|but|so|then|or|also|just)\s+)(?:do not|don'?t|no (?!need\b|the\b|it\b|that|you\b|i\b|idea\b)\w+ )`,
    String.raw`\bonly (?:use|edit|touch|change|click|write|work|read|run|open|if|when|after|with)\b`,
    String.raw`\b(?:niemals|nie|immer|darf(?:st)?|dürfen|muss|müssen|keinesfalls|auf keinen fall|unbedingt|nunca|jam[aá]s|jamais|siempre|toujours|sempre|doit|doivent|il faut|interdit|debes?|deben|deve|prohibido|proibido|vietato)(?![\p{L}])`,
    String.raw`никогда|всегда|нельзя|должн|запрещ|обязательно`,
    `不要|不得|不能|不可|不准|禁止|必须|必須|务必|绝不|切勿|千万|只能|一定要|ないで|必ず|絶対|いけない|いけません|하지 ?마|말 것|금지|반드시|절대`
  ].join("|"),
  "iu"
)

const CHOICE = String.raw`\bdeci(?:ded|sion)\b|\bsettled on\b|\bagreed\b|\bswitch(?:ed|ing)? (?:to|back)\b|entschieden|entscheidung|décid|decidid|решил|решен|决定|決定|改用|改为|改成|결정`
const DECISION = {
  assistant: new RegExp(CHOICE, "iu"),
  user: new RegExp(
    CHOICE +
      String.raw`|\b(?:let'?s|we(?:'ll| will| should)?) (?:use|go|keep|switch|stick|call|make|take)\b|\bgo(?:ing)? with\b|\b(?:choose|chose|chosen|pick|picked)\b|\binstead\b|\brather\b|\bfrom now on\b|\bactually\b|\brename\b|\bno longer\b|\bshould be\b|\bis now\b|\buse\b.+\b(?:for|as)\b|stattdessen|nehmen wir|en lugar|en vez|plutôt|au lieu|вместо|采用|选用|採用|にします|に変更|대신`,
    "iu"
  )
}

const OUTCOME =
  /\b(?:done|fixed|finished|completed?|succeed(?:ed|s)|success(?:ful(?:ly)?)?|pass(?:ed|es)?|works?(?: now)?|created|updated|added|removed|renamed|saved|sent|found|implemented|resolved|ready|published|installed|merged)\b|erledigt|fertig|behoben|hecho|listo|terminé|corrigé|pronto|готово|исправлен|完成|已经|修复|成功|できました|完了|완료|성공/iu

let segmenter: Intl.Segmenter | undefined

/**
 * The sentences of a text in any language, by line, without the marks of lists; each at most 400 units long.
 * Of a text of more than 65 536 units, the head and the tail.
 *
 * @example
 * ```ts
 * import { sentencesOf } from "@varve/core/Statement"
 *
 * console.log([...sentencesOf("- Open v1.2 first. Then save it.\n請先儲存。然後關閉。")])
 * // => [ 'Open v1.2 first.', 'Then save it.', '請先儲存。', '然後關閉。' ]
 * ```
 */
export function* sentencesOf(text: string): Generator<string> {
  segmenter ??= new Intl.Segmenter("en", { granularity: "sentence" })
  for (const line of ends(text, LOOKED_AT).split(LINE_BREAK)) {
    for (const { segment } of segmenter.segment(line)) {
      const sentence = segment.replace(/^\s*(?:[-*•+>]\s+|\d+[.)]\s+)?/, "").trim()
      if (sentence !== "") yield short(sentence, LONGEST)
    }
  }
}

/**
 * Tells by cues in a dozen languages what a sentence is, or nothing where it is none of these. `from` is as
 * in `Material`: `user`, `assistant`, `tool NAME`. Only the user gives constraints; tools only tell of errors.
 *
 * @example
 * ```ts
 * import { statementKind } from "@varve/core/Statement"
 *
 * console.log(statementKind("Never click Delete.", "user")) // => constraint
 * console.log(statementKind("Never click Delete.", "tool browser")) // => undefined
 * ```
 */
export const statementKind = (sentence: string, from: string): StatementKind | undefined => {
  if (from === "user") {
    if (CONSTRAINT.test(sentence)) return "constraint"
    return DECISION.user.test(sentence) ? "decision" : undefined
  }
  if (from === "assistant") {
    if (DECISION.assistant.test(sentence)) return "decision"
    return OUTCOME.test(sentence) ? "outcome" : ERROR.test(sentence) ? "error" : undefined
  }
  return NAMED_ERROR.test(sentence) || (from.endsWith("(error)") && ERROR.test(sentence))
    ? "error"
    : undefined
}
