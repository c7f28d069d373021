/** What may stand before a reply: the mark of a list or a heading. What is quoted is somebody else's. */
const START = String.raw`^[\s*_#>•-]*`

interface Declining {
  /** An apology, or "as an AI": behind it any "I can't" declines. */
  readonly sorry: string
  /** Ways to say "unfortunately" or "but". */
  readonly between: string
  /** "I can't". */
  readonly cannot: string
  /** "Help", "summarise", "meet your request": what only one says who was asked for a summary. */
  readonly help: string
}

const WAYS: ReadonlyArray<Declining> = [
  {
    sorry: String.raw`(?:lo (?:siento|lamento)|(?:te |le )?pido disculpas|disculp[ae]|como (?:una? )?(?:ia|asistente|modelo de lenguaje)\b[^.\n]{0,60})`,
    between: "(?:lamentablemente|pero|sin embargo)",
    cannot: String.raw`(?:yo )?no (?:me es posible|puedo|podré)(?: (?:te|le))?`,
    help: String.raw`(?:ayudar|asistir|resumir|(?:crear|hacer|generar|proporcionar|ofrecer)\w* (?:un|el|este|ese) resumen|cumplir (?:con )?(?:esta|esa|su|tu) (?:solicitud|petición))`
  },
  {
    sorry: String.raw`(?:(?:je suis )?(?:vraiment )?désolée?|je m['’]excuse|toutes mes excuses|en tant qu['’](?:ia|assistant|intelligence artificielle)\b[^.\n]{0,60}|en tant que modèle de langage\b[^.\n]{0,60})`,
    between: "(?:malheureusement|mais|cependant)",
    cannot: String.raw`je ne (?:peux|puis|pourrai|suis) pas(?: en mesure de?| capable de?)?(?: (?:vous|te))?`,
    help: String.raw`(?:(?:d['’]|vous |t['’])?aider|assister|résumer|(?:faire|fournir|créer|générer|rédiger) (?:un|le|ce) résumé|répondre à (?:cette|votre|ta) demande)`
  },
  {
    sorry: String.raw`(?:(?:es )?tut mir (?:sehr )?leid|entschuldigung|entschuldigen sie|ich bitte um (?:entschuldigung|verzeihung)|als (?:ki|künstliche intelligenz|sprachmodell)(?:-\S+|\b)[^.\n]{0,60})`,
    between: "(?:leider|aber|doch)",
    cannot: String.raw`(?:ich (?:kann|darf)|(?:kann|darf) ich)(?: [^\s.,;:]+){0,4}? (?:nicht|keine[nrs]?)`,
    help: String.raw`(?:[^\s.,;:]+ ){0,2}?(?:(?:weiter)?helfen|behilflich sein|zusammenfass(?:en|ung)|(?:diese|ihre|deine) anfrage)`
  },
  {
    sorry: String.raw`(?:(?:me )?desculp[ea]|peço desculpas?|sinto muito|lamento|como (?:uma? )?(?:ia|assistente|modelo de linguagem|inteligência artificial)\b[^.\n]{0,60})`,
    between: "(?:infelizmente|mas|porém)",
    cannot: String.raw`(?:eu )?não (?:posso|consigo|poderei|me é possível)(?: (?:te|lhe))?`,
    help: String.raw`(?:ajudar|auxiliar|resumir|(?:criar|fazer|gerar|fornecer) (?:um|o|este|esse) resumo|atender (?:(?:ao?|à|o) )?(?:este|esse|esta|essa|seu|sua|teu) (?:pedido|solicitação))`
  }
]

const GAP = String.raw`[,.!;:–—\s]*`

const SPACED = WAYS.map(
  ({ between, cannot, help, sorry }) =>
    new RegExp(
      `${START}(?:${sorry}${GAP}(?:${between}${GAP})?${cannot}(?!\\p{L})|(?:${between}${GAP})?${cannot} ${help})`,
      "iu"
    )
)

const CHINESE =
  /^[\s*_#>•-]*(?:(?:(?:非常|很|十分|真的)?(?:抱歉|对不起|對不起)|作为(?:一个|一名)?(?:AI|人工智能|(?:大型)?语言模型)[^。\n]{0,30})[，,。！! ]*(?:但是?)?我(?:们)?(?:无法|不能|没办法|無法)|(?:很?遗憾[，, ]*)?我(?:无法|不能|無法)(?:为您|为你)?(?:帮助|协助|总结|概括|生成摘要|提供摘要|满足您的|满足你的|完成(?:这个|此)请求))/iu

const JAPANESE =
  /^[\s*_#>•-]*(?:(?:大変|誠に)?(?:申し訳(?:あり|ござい)ません|すみません|恐れ入ります)[がけどもれ、。, ]*[^。\n「『]{0,40}(?:できません|できかね|いたしかね|お応えでき|お手伝いでき)|(?:この|その|ご)?(?:要約|依頼|リクエスト)(?:は|を|に|には)[^。\n「『]{0,12}(?:できません|できかね|いたしかね|お応えでき))/u

/**
 * True for a text that begins by declining, in Spanish, French, German, Portuguese, Chinese or Japanese. An apology
 * alone is none, nor is "unfortunately": a summary may begin so. It says of itself that it can't.
 */
export const declines = (text: string): boolean =>
  SPACED.some((pattern) => pattern.test(text)) || CHINESE.test(text) || JAPANESE.test(text)
