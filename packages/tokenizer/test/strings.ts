import * as fc from "fast-check"

const cjk = "人工智能是计算机科学的一个分支，它企图了解智能的实质。ひらがなカタカナー漢字한국어문장"
const exotic =
  "தமிழ் မြန်မာ ខ្មែរ ქართული አማርኛ ᚠᛇᚻ 𐐷𐑊 \u07ca\u07eb ꙮ \u1c80\u1c81 \ua7af \u{1e4d0} \u{10d4a} ሴ ߿"
const special = [
  "<|endoftext|>",
  "<|fim_prefix|>",
  "<|endofprompt|>",
  "<|im_start|>",
  "[INST]",
  "</s>"
]
const spaces = [
  " ",
  "  ",
  "\t",
  "\n",
  "\n\n",
  "\r\n",
  "\r",
  "\u00a0",
  "\u0085",
  "\ufeff",
  "\u2003",
  "\u3000",
  "\u180e",
  "\u2028",
  "\u200b"
]
const contractions = ["'s", "'S", "'t", "'re", "'VE", "'m", "'Ll", "'d", "'ſ", "’s", "'", "''"]
const emoji = ["😀", "👩‍👩‍👧‍👦", "✔️", "🇩🇪", "🏳️‍🌈", "👍🏽", "🫩", "①", "½", "²", "٣", "Ⅷ", "ﷺ", "ﬁ"]
const code = [
  "function(){return 0}",
  '{"x":1,"y":[2,3]}',
  "</div>",
  "a.b_c-d",
  "\\u00e9",
  "0xFF",
  "//",
  "///\n/",
  "};\n});\n"
]
const lone = ["\ud800", "\udc00", "\ud83d", "\ude00", "a\ud800b", "\udc00\ud800"]

const fragment = fc.oneof(
  fc.string({ maxLength: 12 }),
  fc.string({ unit: "binary", maxLength: 8 }),
  fc.string({ unit: "grapheme", maxLength: 8 }),
  fc.constantFrom(...special, ...spaces, ...contractions, ...emoji, ...code, ...lone),
  fc.constantFrom(...cjk, ...exotic.split(" ")),
  fc.constantFrom(
    "camelCase",
    "SCREAMING",
    "Straße",
    "naïve",
    "a\u0301",
    "İi",
    "the",
    "The",
    "THE",
    "1234567",
    "3.14"
  ),
  fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)),
  fc
    .tuple(
      fc.constantFrom("a", "A", " ", "\n", "=", "-", "é", "字", "😀", "7", "/", "\u0301", "'"),
      fc.integer({ min: 2, max: 90 })
    )
    .map(([unit, n]) => unit.repeat(n))
)

/** Random and adversarial texts: scripts, spaces, runs, contractions, special tokens, code and lone surrogates mixed. */
export const strings = fc.array(fragment, { maxLength: 14 }).map((parts) => parts.join(""))
