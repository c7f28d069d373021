/** Words that say that something is not so, in a dozen languages: where one is missed, less is told apart. */
const NOT =
  "not no never none nor neither nothing nobody nowhere without fail fails failed failing failure cannot hardly barely scarcely unable untrue false wrong incorrect missing lacks refused denied " +
  "nicht nichts nie niemals niemand nirgends nirgendwo weder kaum ohne falsch unwahr " +
  "no nunca nada nadie ninguno ninguna ninguno ningún ningun tampoco jamás jamas sin ni falso " +
  "ne pas non jamais aucun aucune rien personne guère guere nulle sans faux " +
  "não nao nem nenhum nenhuma ninguém ninguem jamais tampouco sem " +
  "non né mai niente nulla nessuno nessuna nessun neanche nemmeno neppure senza " +
  "niet geen nooit niets niemand zonder inte ingen inget inga aldrig ikke intet uden nie żaden żadna żadne nigdy bez nem nincs sem " +
  "değil yok не нет ни без никогда ничего никто нельзя немає нема δεν όχι لا لم لن ليس غير नहीं tidak bukan belum không chưa"

const NEGATION = new RegExp(
  String.raw`(?<![\p{L}\p{N}])(?:${NOT.split(" ").join("|")}|kein\p{L}*|0 (?:of|out of|von|de|di|sur))(?![\p{L}\p{N}])|n['’]t(?!\p{L})|(?<!\p{L})n['’](?=\p{L})|不|没|沒|未|無|ない|ません|않|못|안 |ไม่`,
  "iu"
)

/** True where a text says that something is not so. */
export const isNegative = (text: string): boolean => NEGATION.test(text)

const ABBREVIATIONS = new Set(
  (
    "etc vs cf ca approx no nos nr mr mrs ms messrs mx dr prof rev hon gov sen rep pres gen col capt cmdr lt maj sgt st ste mt ft jr sr esq inc ltd llc corp co cos bros assn dept div univ inst intl natl govt admin mgr al et op cit ibid fig figs eq eqs sec secs ch chap vol vols ed eds ex exs pp par para art app ref refs tab no ver vers rev min mins max avg hr hrs sec wk wks mo mos yr yrs am pm jan feb mar apr jun jul aug sep sept oct nov dec mon tue tues wed thu thur thurs fri sat sun ave blvd rd str hwy bldg apt ext tel est resp incl excl esp misc orig temp temps abbr aka attn assoc asst dist num nums qty std spec specs doc config env " +
    "bzw usw evtl ggf inkl exkl zzgl bzgl bspw vgl sog abs nr tel str jh jhd jan feb mär apr mai jun jul aug okt nov dez mo di mi do fr sa so hrsg verf bd aufl std sek zz mio mrd ggü gem lt max min urspr allg insb od u " +
    "aprox pág pag págs núm num sra sres srta ud uds vd vds dña art cap ej p.ej fra cía cia avda dpto tel ene abr ago dic fig env éd chap éds mme mlle mm me av bd janv févr fevr avr juil déc dec sept p.ex pag sig sigg sigra dott dott.ssa ing avv prof gen mag giu lug ott gennaio ecc tel dr.ª sr.ª exmo exma " +
    "гг ул руб им др стр рис тыс млн млрд см напр проф акад тел"
  ).split(" ")
)

/** What may stand behind the last word of a sentence. */
const CLOSING = String.raw`["'”“’‘)\]»«›‹」』】*_~]*\s*$`
const LAST = new RegExp(String.raw`([\p{L}\p{M}\p{N}.'’&-]*)(\.)${CLOSING}`, "u")

/**
 * True where a full stop at the end of a text may be of its last word: "9 a.m.", "the U.S.", "Jan.", "am 5.",
 * "and so on ...". Of short names as well, "Sept.", wherever they aren't all that there is.
 */
export const isAbbreviated = (text: string): boolean => {
  const end = text.slice(-40)
  const found = LAST.exec(end)
  if (found === null) return /…["'”’)\]*_]*\s*$/u.test(end)
  const word = found[1]!
  const isFirst = text.length <= 40 && found.index === text.length - text.trimStart().length
  return (
    // "and so on ..."
    word.endsWith(".") ||
    /^(?:\p{L}|\p{N}{1,2}|[ivxlcm]{1,6}|(?:\p{L}{1,4}\.)+\p{L}{1,4})$/iu.test(word) ||
    ABBREVIATIONS.has(word.toLowerCase()) ||
    (/^\p{L}[bcdfghjklmnpqrstvwxz]{1,4}$/u.test(word) && !/[aeiouy]/i.test(word)) ||
    (!isFirst && /^\p{Lu}[\p{Ll}\p{M}]{1,3}$/u.test(word))
  )
}

/** None of these takes back, puts off or doubts what comes after it, whatever stands beside it. */
const NEUTRAL = new Set(
  (
    "how works work a an the this these those that here there is are was were be what which i we you he she they it its my our your me us of in on for from with as and following follows below above " +
    "found find see saw read have has had got did done made make build built changed created added wrote written used fixed finished completed shipped " +
    "one two three four five six seven eight nine ten few some all several new main key " +
    "part parts point points thing things list note notes detail details finding findings fact facts result results outcome outcomes summary overview answer answers change changes file files page pages section sections example examples " +
    "hier ist sind das die der was ich habe wir haben gefunden folgende folgendes ergebnis ergebnisse zusammenfassung punkte teile dateien änderungen erledigt fertig " +
    "voici résultat résultats résumé aquí está están resultado resultados resumen ecco risultati riassunto"
  ).split(" ")
)

/** True for "Here is what I found:", of which what follows needs nothing to be understood. */
export const isNeutral = (text: string): boolean => {
  const words = text.toLowerCase().match(/[\p{L}\p{M}\p{N}'’]+/gu) ?? []
  return (
    words.length > 0 &&
    words.every((word) => NEUTRAL.has(word)) &&
    /^[\p{L}\p{M}\p{N}'’\s,:：.*_#-]*$/u.test(text)
  )
}
