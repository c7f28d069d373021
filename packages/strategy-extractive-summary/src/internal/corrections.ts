/** Takes back what was said before, in the words of the user. */
const CORRECTION = new RegExp(
  [
    String.raw`^(?:(?:oh|ok|okay|sorry|hm+|ah|well|wait|but|and)[,.!… ]+)*(?:no|nope)(?:[,.!;:–—-]+\s|\s(?:wait|use|go|make|keep|call|not)\b)`,
    String.raw`^(?:(?:oh|ok|okay|sorry|hm+|ah|well|no)[,.!… ]+)*(?:wait|actually|correction|rather)\b`,
    String.raw`(?<!\b(?:not|n't|n’t|never) )\bforget (?!to\b)|\bscratch that\b|\bnever ?mind\b|\bon second thou?ghts?\b|\bchange of plans?\b|\bi was wrong\b|\bi changed my mind\b`,
    String.raw`\b(?:go|going|switch|change|revert|roll|move|back|it'?s) (?:it )?back to\b|^back to\b|\brevert(?: that| it|ed)? to\b`,
    String.raw`\bnot\b[^.!?]{1,60}\b(?:but|either|any ?more)\b|,\s*not (?!sure\b|that\b|only\b|yet\b|now\b)\S`,
    String.raw`\binstead of\b|\bno longer\b|\b(?:is|are|should be) now\b|\bfrom now on\b`,
    String.raw`\bdoch (?:nicht|lieber|wieder)\b|\bstattdessen\b|\bnicht\b[^.!?]{1,60}\bsondern\b|\bvergiss\b|\bzurück zu\b|^nein\b`,
    String.raw`\bau lieu d|\bplutôt\b|\bfinalement\b|\boublie[zr]?\b|^non\b[,.!]|\ben (?:vez|lugar) de\b|\bolvida\b|\bsino\b`,
    String.raw`(?<!\p{L})(?:вместо|забудь|верн[иё]\S*|нет,)`,
    `不对|不是.{1,30}(?:而是|是)|改用|改为|改成|改回|换回|算了|やっぱり|ではなく|じゃなくて|に戻(?:す|して)|말고|대신|아니[,라 ]`
  ].join("|"),
  "iu"
)

/** True where the user takes back, or puts right, what was said before. */
export const isCorrection = (sentence: string): boolean =>
  CORRECTION.test(sentence) && !/[?？]\s*$/.test(sentence)

/** A correction that doesn't say what to do: the next sentence does. */
export const isBare = (sentence: string): boolean =>
  /^(?:(?:oh|ok|okay|sorry|hm+|ah|wait|no|nope|nein|non|nej|нет|不|不对|いや|違う|아니)[\s,.!。！、…-]*)+$/iu.test(
    sentence
  )
