/** The words by which a sentence is told to be a constraint, a decision or an outcome. */

/** Words that sound like a constraint in a sentence that gives none. */
const NO_CONSTRAINT =
  /\b(?:do not|don't|doesn't|won't|no longer) (?:need|have) to\b[^,;.:]*|\bneedn't\b[^,;.:]*|\bno need\b[^,;.:]*|(?:\b(?:has|have|had|was|were)|'s|'ve) (?:always|never)\b|\b(?:always|never) been\b|\b(?:it|this|that|he|she|they|i|we) (?:always|never) \w+(?:ed|s)\b|\bi must (?:say|admit|confess)\b|\bmust have (?:been|\w+ed)\b/giu

const CONSTRAINT = new RegExp(
  [
    String.raw`\b(?:never|always|must|mustn't|mandatory|forbidden|prohibited|not allowed|make sure|be sure|ensure|avoid|under no circumstances|at most|at least|no (?:more|less|later) than|should(?:n't| not)|(?:may|can|shall) not|ask (?:me )?(?:first|before)|without (?:asking|my|permission|confirm\w+)|(?:unless|until|before) i)\b`,
    String.raw`(?:^|[,;:.–—-]\s*|\b(?:please|and|but|so|then|or|also|just)\s+)(?:do not|don't|dont|no (?!need\b|the\b|it\b|that|you\b|i\b|idea\b|wait\b|problem|worries)\w+ |stop \w+ing\b|(?:stay|keep) (?:out|away|off|clear)\b|hands off\b)`,
    String.raw`\bonly (?:use|edit|touch|change|click|write|work|read|run|open|if|when|after|with)\b`,
    String.raw`(?:^|[,;:.]\s*|\b(?:please|and|but)\s+)(?:add|change|click|commit|delete|deploy|edit|install|move|open|push|read|remove|run|send|test|touch|update|use|work|write) only\b`,
    String.raw`\bleave\b.{1,60}\b(?:alone|untouched|unchanged|as (?:it|they) (?:is|are)|as is)\b`,
    String.raw`\bkeep\b.{1,60}\b(?:under|below|within|out of|away from|untouched|unchanged|as (?:it|they) (?:is|are)|as is)\b`,
    String.raw`\b(?:niemals|nie|immer|darf(?:st)?|dürfen|muss|müssen|keinesfalls|auf keinen fall|unbedingt|nunca|jam[aá]s|jamais|siempre|toujours|sempre|doit|doivent|il faut|interdit|debes?|deben|deve|prohibido|proibido|vietato)(?![\p{L}])`,
    String.raw`никогда|всегда|нельзя|должн|запрещ|обязательно`,
    `不要|不得|不能|不可|不准|禁止|必须|必須|务必|绝不|切勿|千万|只能|一定要|ないで|必ず|絶対|いけない|いけません|하지 ?마|말 것|금지|반드시|절대`
  ].join("|"),
  "iu"
)

/** A question that asks for something to be told, and not, politely, for something to be done. */
const QUESTION =
  /^(?:so|and|but|or|ok|well)?,?\s*(?:should|must|may|shall|do|does|did|is|are|was|were|has|have|why|what|how|which|who|whose|where)\b.*(?<!\b(?:ok|okay|right|yes|please))\?\W*$/isu

const CHOICE = String.raw`\bdeci(?:ded|sion)\b|\bsettled on\b|\bagreed\b|\bswitch(?:ed|ing)? (?:to|back)\b|entschieden|entscheidung|décid|decidid|решил|решен|决定|決定|改用|改为|改成|결정`

/** An answer that takes something back. */
const CORRECTION = String.raw`^(?:no|nope|nah)[,.!]\s+(?!thank|problem|worries)\S|^(?:no,? )?wait\b|^not (?!sure|yet|bad)|, not \S|\bnot \S+ (?:either|any ?more)\b|(?<!\b(?:i|to|not|never|don't|dont) )\bforget\b|\bback to\b|\bscratch that\b|\bon second thoughts?\b|\bnever ?mind\b|^call (?:it|this|that|them)\b|\bfinal[.!]*$`

const DECISION = {
  assistant: new RegExp(CHOICE, "iu"),
  user: new RegExp(
    CHOICE +
      "|" +
      CORRECTION +
      String.raw`|\b(?:let'?s|we(?:'ll| will| should)?) (?:use|go|keep|switch|stick|call|make|take)\b|\bgo(?:ing)? with\b|\b(?:choose|chose|chosen|pick|picked)\b|\binstead\b|\brather\b|\bfrom now on\b|\bactually\b|\brename\b|\bno longer\b|\bshould be\b|\bis now\b|\buse\b.+\b(?:for|as)\b|stattdessen|nehmen wir|en lugar|en vez|plutôt|au lieu|вместо|采用|选用|採用|にします|に変更|대신`,
    "iu"
  )
}

/** What is still to be decided, or asked. */
const OPEN =
  /(?:\bnot|n't|\bnever|\bnothing)\b[^,;.]{0,30}\b(?:decided|decision|settled|agreed|chosen|picked)\b|(?:\bnot sure|\bno idea|n't know|\bdont know|\bnot know|\bwonder\w*|\bundecided)\s+(?:yet |about )?(?:what|which|whether|if|how|where)\b|\bwhat do you think\b|还没决定|未定/iu

const RESULT = String.raw`(?:\b(?:done|fixed|finished|completed?|succeed(?:ed|s)|success(?:ful(?:ly)?)?|pass(?:ed|es)?|works?(?: now)?|created|updated|added|removed|renamed|saved|sent|found|implemented|resolved|ready|published|installed|merged)\b|erledigt|fertig|behoben|hecho|listo|terminé|corrigé|pronto|готово|исправлен|完成|已经|修复|成功|できました|完了|완료|성공)`
const NOT = String.raw`(?:\bnot|n't|\bcannot|\bnever|\bnothing|\bnone|\bneither|\bnobody|\bfail(?:s|ed)? to|\byet to|\bno longer|\bnicht|\bkein\w*|\bno (?:se|está|estan|están)|\bpas|не|没有?|未|还没)`
const OUTCOME = new RegExp(RESULT, "iu")
/** "Not fixed", "hasn't been merged". */
const NO_OUTCOME = new RegExp(NOT + String.raw`(?:\s+\w+){0,3}\s*` + RESULT, "iu")
/** "Not, as I wrote before, completed": what is denied isn't known. */
const DENIED = new RegExp(NOT + String.raw`(?![\p{L}]).{0,160}?` + RESULT, "isu")

/** A sentence that says when what stands before it doesn't hold. */
const EXCEPTION =
  /^\W*(?:(?:except|unless|but|however|otherwise|if|only|apart from|other than|aside from|the (?:only )?exception|außer|sauf|salvo|кроме)(?![\p{L}])|除非|除了|但)/iu

/** Words that allow what was forbidden, where it is named again. */
const PERMISSION =
  /\b(?:you|we|one) (?:may|can|could)\b|\b(?:allowed|(?:free|fine|ok|okay) to|go ahead|lifted|needn't|no need|(?:do not|don't|dont|no longer) (?:need|have)|darfst|kannst|puedes|peux|pouvez)\b|можно|可以|いいです|해도/iu

/** What is looked at of a sentence, with plain apostrophes. */
const plain = (sentence: string): string => sentence.slice(0, 2000).replace(/[’‘ʼ]/g, "'")

export const isConstraint = (sentence: string): boolean => {
  const said = plain(sentence)
  return !QUESTION.test(said) && CONSTRAINT.test(said.replace(NO_CONSTRAINT, " "))
}

export const isDecision = (sentence: string, from: "assistant" | "user"): boolean => {
  const said = plain(sentence)
  return !QUESTION.test(said) && !OPEN.test(said) && DECISION[from].test(said)
}

/** Whether a text may hold a decision of the assistant. */
export const mayDecide = (text: string): boolean => DECISION.assistant.test(text)

/** True of what came of something, false of what didn't, nothing of what tells neither for sure. */
export const outcomeIn = (sentence: string): boolean | undefined => {
  const said = plain(sentence)
  if (!OUTCOME.test(said)) return undefined
  if (NO_OUTCOME.test(said)) return false
  return DENIED.test(said) ? undefined : true
}

export const isException = (sentence: string): boolean => EXCEPTION.test(sentence)

export const isPermission = (sentence: string): boolean => PERMISSION.test(plain(sentence))
