/**
 * What tells a reply to the one who asked from a summary: it speaks of itself, of the one who asked and of what
 * was asked, and names nothing of the material. The lists below go by languages: English, Spanish, French, German,
 * Portuguese, then Chinese, Japanese and a few words of others.
 */

/** "I can't", "there is no". */
const CANNOT = [
  String.raw`\b(?:i|we)\b.{0,40}(?:n't|not\b|unable|refuse|declin)|\b(?:there (?:is|are|was)|i have) no\b|\bnot? able to|(?:not|n't) possible`,
  String.raw`\bno (?:me (?:es|siento)|puedo|podemos|podr|tengo|hay|se puede|es posible|puede)`,
  String.raw`\bn(?:e |['e]).{0,30}(?:pas|rien|aucune?)\b|\bne pas pouvoir|pas en mesure`,
  String.raw`\b(?:ich|mir|wir|kann|darf|habe|gibt)\b.{0,60}\b(?:nichts?|keine?[nrs]?)\b`,
  String.raw`\bnão (?:me é|posso|podemos|consigo|poderei|tenho|há|é possível|pode)`,
  "无法|無法|不能|没有|没办法|不可以|违反",
  "でき(?:ません|かね|ない)|いたしかね|おりません|がありません",
  String.raw`수 없|\bnon (?:posso|riesco)|не (?:могу|можем)`
].join("|")

/** What only one says who was asked for a summary: "help", "summarise", "this request". */
const TASK = [
  String.raw`\b(?:help|assist|comply|engage|discuss|stop here|personal|sensitive|private|(?:full|whole) text|summari[sz]|(?:a|any|the|this|that) summary|(?:this|that|your) (?:request|content|task)|conversation|transcript|more than th(?:is|at)|(?:enough|any|more) (?:context|information))`,
  String.raw`\b(?:do|with|answer|provide|access to|continue) (?:that|this|it|so)(?=[\s\p{P}]*(?:$|[,;:–—]|because|since|as\b|for\b|under\b))`,
  // "Un resumen de ventas" is a thing, "un resumen de esta conversación" is the task; so in French and Portuguese.
  String.raw`\br[eé]sum(?!(?:en|é|o) d(?:e |es |')(?!est|cette|esta|la conv|ce ))|conversa|solicitud`,
  String.raw`ayud|asist|cumplir|\beso\b|\b(?:es[ae]|ces) informa|aider|assister|demande\b|cel?a\b`,
  "helfen|hilf|auskunft|behilflich|zusammen(?:zu)?fass|unterhaltung|gespräch|anfrage",
  String.raw`ajud|auxili|atender|\bd?isso\b|solicitação|(?:este|esse|seu) pedido`,
  "[帮幫]|[协協]助|[总總][结結]|概括|摘要|[对對][话話]|[请請]求|这样做|这个问题",
  "aiut|riassu|помочь|помог"
].join("|")

/** What declines where "I can't" comes after it: an apology, "as an AI", "this request". */
const LEAD = [
  String.raw`\b(?:sorry|apolog|afraid|as an? (?:ai|language|assist)|summari[sz]ing|(?:this|that|your) (?:request|prompt|conversation|content|message))`,
  String.raw`\b(?:disculp|lo (?:siento|lamento)|me temo|(?:est[ae]|[ts]u) (?:solicitud|petición|conversa))`,
  String.raw`\b(?:désol|crains|(?:cette|votre) (?:demande|conversation)|en tant qu)`,
  String.raw`\b(?:fürchte|entschuldig|tut mir leid|(?:diese[rs]?|ihre|deine) (?:anfrage|gespräch|unterhaltung)|da(?:bei|zu|rauf|s) (?:kann|darf|habe)|als (?:ki|künst|sprach))`,
  String.raw`\b(?:desculp|sinto muito|lamento|receio|(?:est[ea]|sua?) (?:pedido|solicitação|conversa)|como (?:una? |uma? )?(?:ia\b|asistente|assistente|model|intel))`,
  "抱歉|[对對]不起|[遗遺]憾|作为|我是.{0,6}(?:ai|人工)|[这這该]个?(?:请求|对话|问题)",
  "申し訳(?:あり|ござい)ません|すみません|恐れ入り|[こそごの] ?(?:要約|依頼|リクエスト|会話)|要約する|会話の|手伝|お答え",
  "죄송|도와|요약|dispiace|извините"
].join("|")

/** What was asked, as a service names it that didn't let it through, and what it did with it. */
const ASKED = [
  String.raw`(?:\b(?:your|this|that)(?: (?!the\b)\w+)? |^)(?:request|prompt|message|input|usage|account|trial|session|conversation|content|plan|quota)\b`,
  String.raw`(?:content|usage|use|safety)(?: \w+)? (?:polic|filter|system)`,
  String.raw`\b(?:tu|su|votre|ihre|sua|esta|cette|diese) (?:solicitud|petición|demande|anfrage|solicitação)|[的该]请求`
].join("|")
const STOPPED = String.raw`n't|\bnot?\b|cannot|blo(?:ck|que)|bloqu|flag|violat|filter|denied|reject|refus|limit|exceed|error|fail|empty|invalid|suspend|stopp|ended|expired|拦截|违反`

const DECLINES = new RegExp(
  [
    `(?:${CANNOT}).{0,60}?(?:${TASK})`,
    `(?:${LEAD}).{0,80}?(?:${CANNOT})`,
    `(?:${ASKED}).{0,60}?(?:${STOPPED})|(?:${STOPPED}).{0,60}?(?:${ASKED})`,
    String.raw`\b(?:no|nothing|not|\w+n't)\b.{0,30} (?:conversation|transcript|to summari)`,
    String.raw`\b(?:conversation|transcript|record|history)\b.{0,30}\b(?:empty|too long)\b`,
    String.raw`\byou (?:haven't|have not|didn't|did not)|\bmy (?:guidelines|policies|programming|principles|values)`,
    String.raw`^(?!.*\buser\b).*\b(?:i|me|we|you)\b.*\bsummari[sz](?:e|ing)\b`
  ].join("|"),
  "iu"
)

/** What may stand before a word and behind it: marks of a list or a heading, punctuation. */
const MARKS = String.raw`[\s\p{P}\p{S}]*`

/** A few words before a question: "Hallo, ". */
const CALL = String.raw`(?:[^?]{0,20}[\s\p{P}])?`

/** A request, a plan, an offer or a question to the one who asked: how one begins. */
const BEGINS = [
  String.raw`(?:please(?! note)|let(?: me|'s)|shall i|should i|i'(?:ll|d)|i will|i(?:'m| am) (?:going|here|ready|happy|glad)|i (?:understand|see) (?:that )?you|(?:feel )?free|i think (?:i|we)|we should|continuing|working on|want me to|ready (?:to|when)|anything|tell me|happy to|is there|what's up|i need (?:more|you|the (?:text|conv|full|actual)))\b`,
  String.raw`(?:how|what|which|would|could|can|do|are) .{0,80}\b(?:you|i)\b.*\?|(?:it )?(?:seems|looks).{0,40}(?:n't|not)\b`,
  String.raw`(?:por favor|d[íi]game|dime|env[íi]|comparte|proporcion|voy a|permíteme)\b`,
  String.raw`(?:veuillez|s'il (?:vous|te)|envoyez|merci de|dites|je vais)\b|${CALL}(?:comment|que|quel|souhait|voul|pouv|pourr|puis-je).*(?:vous|je)\b.*\?`,
  String.raw`(?:bitte(?! de[sr])|sag|schick|lassen sie|ich werde)\b|${CALL}(?:wie|wo\p{L}*|was|welche|möcht|könn|soll).*(?:ich|sie|ihnen|dir|du)\b.*\?`,
  String.raw`(?:diga|envie|forneça|compartilhe|vou)\b|${CALL}(?:como|que|qual|gostaria|deseja|pode).*(?:${TASK}|você|eu|posso|devo|quer|deseja).*\?`,
  "[请請](?!求)|[让讓]|我(?:来|会|将|可以).{0,4}[帮为]"
].join("|")

const OFFERS = new RegExp(
  [
    `^${MARKS}(?:(?:now|next|first|then|sure|ok|okay|got it|understood|of course|noted|alright|so|and|just|好的|当然),?${MARKS})?(?:${BEGINS})`,
    String.raw`\bplease (?:try|wait|rephrase|split|provide|share|send|upgrade|check|contact|let|paste|clarify|specify)\b`,
    String.raw`¿[^¿]*(?:${TASK}|quier|dese|te\b|usted)`,
    String.raw`[您你我].*[?？吗嗎]|(?:ください|いただけますか|ましょうか|(?:ます|です)か[?？。]?)${MARKS}$`
  ].join("|"),
  "iu"
)

/** A greeting, thanks, an apology, a yes, or that a summary follows: what says nothing. */
const FILLER = new RegExp(
  `^${MARKS}(?:${[
    String.raw`(?:sure|certainly|of course|absolutely|okay|ok|great|got it|understood|no|yes|hello|hi|hey|sorry|(?:my )?apologies|i(?:'m| am)(?: \w+)? sorry|i apologi[sz]e)(?: there)?`,
    "hola|claro|lo siento|entendido|bonjour|d'accord|désolée?|hallo|guten tag|gerne?|natürlich|verstanden|olá|desculpe|certo",
    "[您你]好|当然|好的|抱歉|对不起|こんにちは|はい|承知しました|かしこまりました|申し訳(?:あり|ござい)ません",
    "(?:thanks(?! to)|thank you|gracias|merci|danke|obrigad|感谢|谢谢).*",
    String.raw`(?:[^:]{0,20}[\s\p{P}])?here(?:'s| is| are)\b[^:]{0,60}\b(?:summar|record)[^:]*|(?:the )?summary|record`
  ].join("|")})${MARKS}$`,
  "iu"
)

/** What speaks to the one who asked, or of what its writer does at this very moment. */
const ADDRESSED = new RegExp(
  [
    String.raw`\b(?:you|your|i(?:'m| am|'ll|'d| can| can't| cannot| must| have to| see| think| don't| do not| would| won't))\b|^(?:sorry|(?:my )?apologies|lo siento|désolée?|desculp[ea]),`,
    String.raw`\b(?:te|usted|puedo|tengo|estoy|dispongo|vous|votre|je (?:ne )?(?:peux|suis)|ihnen|dir|mir|ich (?:kann|bin|darf|möchte)|você|posso|tenho|estou)\b`,
    "[您你]|我不便|^すみません|ください|いたし|ござい|お.{1,4}できません"
  ].join("|"),
  "iu"
)

/** Who is spoken of in a summary. */
const SPOKEN_OF =
  /\b(?:user|agent|assistant|usuario|utilisateur|nutzer|benutzer|usuário)|用户|ユーザー/iu

/** What is quoted is somebody else's. */
const QUOTED = /“[^”]*”|„[^“”]*[“”]|«[^»]*»|「[^」]*」|『[^』]*』|(?<!\w)"[^"\n]*"/gu

const SENTENCE_END = /(?<=[!?;。！？；\n])|(?<=\.)\s/u

/** A reply shows itself within so much of a sentence. */
const SHOWS = 300

/** A path, an identifier, a number of two digits: what a summary names, and a reply hardly. */
const isPrecise = (word: string): boolean =>
  /\w.*\d|\w[._]\w{2}|^\/\w|\w\/\w+\/|[a-z][A-Z]/.test(word)

/** Whether a text names something precise that occurs in the material. */
export const namesPrecisely = (text: string, source: () => string): boolean =>
  (text.match(/[\w./@-]*\w/g) ?? []).some((word) => isPrecise(word) && source().includes(word))

/**
 * What a text is that tells nothing but what its writer doesn't do, offers, plans or asks: a reply; or a preface,
 * where it has greetings and the like alone. It is a reply where its first sentence or most of it is one, or where
 * all of it is addressed to somebody. But where another sentence of it names something precise of the material, it
 * is a summary with an honest line in it.
 */
export const replyOf = (text: string, source: () => string): "reply" | "preface" | undefined => {
  const plain = text.replace(/[’‘ʼ]/g, "'").trim()
  const unquoted = plain.replace(QUOTED, '""')
  // A text that stands in quotes as a whole is its writer's own.
  const own = /\p{L}/u.test(unquoted) ? unquoted : plain
  const sentences = own
    .split(SENTENCE_END)
    .map((sentence) => sentence.slice(0, SHOWS))
    .filter((sentence) => /[\p{L}\p{N}]/u.test(sentence) && !FILLER.test(sentence))
  if (sentences.length === 0) return "preface"
  const others = sentences.filter((one) => !DECLINES.test(one) && !OFFERS.test(one))
  const length = (of: ReadonlyArray<string>) => of.reduce((sum, { length }) => sum + length, 0)
  if (others[0] !== sentences[0] || length(others) * 2 < length(sentences))
    return others.some((one) => namesPrecisely(one, source)) ? undefined : "reply"
  const addressed = sentences.every((one) => ADDRESSED.test(one) && !SPOKEN_OF.test(one))
  return addressed && !namesPrecisely(own, source) ? "reply" : undefined
}
