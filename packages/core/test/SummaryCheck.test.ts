import { notSummary } from "../src/internal/notSummary.ts"
import { clipSummarizer, clipSummary } from "@varve/core/ClipSummarizer"
import { estimateTokens } from "@varve/core/Estimate"
import type { SummaryRequest, SummaryResult } from "@varve/core/Summarizer"
import { checkSummary } from "@varve/core/SummaryCheck"
import { SummaryError } from "@varve/core/VarveError"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import fc from "fast-check"
import { describe, expect, it } from "vitest"

const topics = ["menu", "form", "table", "wizard", "editor", "error page", "login", "list of users"]
const material = Array.from({ length: 40 }, (_, i) => ({
  from: i % 2 === 0 ? "assistant" : "tool click",
  text: `At point ${i} the ${topics[i % 8]} was ${i % 3 === 0 ? "opened" : "changed"} and value ${i * 37} was seen in field ${(i * 7919) % 997}.`
}))
const request: SummaryRequest = {
  previous: "The user wants the invoice of March.",
  material,
  keep: [],
  targetTokens: 300,
  count: estimateTokens
}
const good =
  "The agent opened the menu, filled in the form with the address, and saved it. The table then had 12 rows; the invoice of March was in row 7."

const reason = (result: unknown, over: Partial<SummaryRequest> = {}) => {
  const checked = checkSummary({ ...request, ...over }, result as SummaryResult)
  if (Result.isSuccess(checked)) return "accepted"
  expect(checked.failure).toBeInstanceOf(SummaryError)
  return checked.failure.reason
}
const said = (text: unknown, stopReason: unknown = "stop") => reason({ text, stopReason })

describe("checkSummary", () => {
  it("accepts a good summary as it is", () => {
    const result = { text: good, stopReason: "stop", model: "m" }
    const checked = checkSummary(request, result)
    expect(Result.isSuccess(checked) && checked.success === result).toBe(true)
  })

  it("wants the stop reason `stop`", () => {
    for (const stop of ["length", "error", "aborted", "refusal", "", undefined, null, 1]) {
      expect(reason({ text: good, stopReason: stop })).toBe("stop-reason")
    }
    expect(said(good, "toolUse")).toBe("tool-call")
    expect(said(good, "tool_use")).toBe("tool-call")
  })

  it("says what a function of the user's has to give", () => {
    const message = (result: unknown) => {
      const checked = checkSummary(request, result as SummaryResult)
      return Result.isFailure(checked) && checked.failure.message
    }
    expect(message(good)).toContain('{ text, stopReason: "stop" }')
    expect(message({ text: good })).toContain('it has no stopReason; a whole answer has "stop"')
  })

  it.each([
    "",
    " \n\t ",
    "\u200b\u200b",
    "---",
    "...",
    "No content.",
    "(no summary)",
    "N/A",
    "null",
    "undefined",
    "[object Object]",
    "{}",
    '""'
  ])("refuses %j as blank", (text) => {
    expect(said(text)).toBe("blank")
  })

  it.each([
    '<tool_call>{"name":"click"}</tool_call>',
    '<function_calls><invoke name="x">',
    "<|tool_call|>click",
    "<｜tool▁calls▁begin｜>click",
    '[TOOL_CALLS] [{"name":"click"}]',
    "```tool_code\nclick(1)\n```",
    '{"name":"click","arguments":{"x":1}}',
    '[{"name":"click","input":{}}]',
    '{"tool_calls":[{"id":"1"}]}'
  ])("refuses %j as a tool call", (text) => {
    expect(said(text)).toBe("tool-call")
  })

  it("takes JSON and tags that are no calls", () => {
    expect(said('{"summary":"The form was filled in.","name":"Form of March"}')).toBe("accepted")
    expect(said("<summary>The form was filled in.</summary>")).toBe("accepted")
    expect(said("{ the form } was filled in")).toBe("accepted")
  })

  it.each([
    ["refusal", "I'm sorry, but I can't help with that."],
    ["refusal", "I cannot provide a summary of this conversation."],
    ["refusal", "As an AI language model, I don't have access to that."],
    ["refusal", "Would you like me to continue?"],
    ["refusal", "Please provide the text that I should summarise."],
    ["blank", "Sure! Here is the summary:"],
    ["not-text", "<html><body>502 Bad Gateway</body></html>"],
    ["not-text", "<!DOCTYPE html>\n<title>Sign in</title> to go on"],
    ["not-text", "502 Bad Gateway"],
    ["not-text", '{"foo": [1,2,3'],
    ["not-text", '```json\n{"foo": 1}\n```'],
    ["not-text", '[{"a":1},{"a":2}]'],
    [
      "not-text",
      Array.from({ length: 40 }, (_, i) => btoa(`${(i * 7919) ** 3}`.repeat(3))).join("\n")
    ],
    ["reasoning", "<think>The user wants the invoice.</think>\n" + good],
    ["reasoning", "<thinking>\nThe user wants the invoice"],
    ["reasoning", "The user wants the invoice.\n</think>\n" + good]
  ])("refuses as %s what is no summary: %j", (why, text) => {
    expect(said(text)).toBe(why)
  })

  it.each([
    "Lo siento, pero no puedo ayudarte con eso.",
    "No puedo resumir esta conversación.",
    "Lamentablemente no puedo ayudar con esa solicitud.",
    "Como modelo de lenguaje de IA, no puedo acceder a los archivos.",
    "Je suis désolé, mais je ne peux pas vous aider.",
    "Je ne peux pas résumer cette conversation.",
    "En tant qu'IA, je ne peux pas consulter ces fichiers.",
    "Es tut mir leid, aber ich kann Ihnen dabei nicht helfen.",
    "Leider kann ich diese Unterhaltung nicht zusammenfassen.",
    "Ich kann keine Zusammenfassung dieses Gesprächs erstellen.",
    "Als KI-Sprachmodell kann ich darauf nicht zugreifen.",
    "Desculpe, mas não posso ajudar com isso.",
    "Não consigo resumir esta conversa.",
    "Infelizmente, não posso atender ao seu pedido.",
    "抱歉，我无法提供这段对话的总结。",
    "很抱歉，但我不能协助完成此请求。",
    "作为一个AI语言模型，我无法访问这些文件。",
    "我无法总结这段对话。",
    "申し訳ありませんが、この会話を要約することはできません。",
    "申し訳ございませんが、そのご依頼にはお応えできません。",
    "すみませんが、それはお手伝いできません。",
    "この要約は作成できません。"
  ])("refuses what declines in other languages: %j", (text) => {
    expect(notSummary(text, () => "")?.[0]).toBe("refusal")
  })

  it.each([
    "El usuario pidió ayuda con la factura. La página respondió: «Lo siento, no puedo ayudarle». Se reintentó y funcionó.",
    "«Lo siento, no puedo ayudar con eso», dijo el asistente del banco; la factura se pagó en la ventanilla.",
    "Lo siento, decía el formulario: faltaba la dirección. Se completó y se guardó.",
    "Lamentablemente la página no cargó a la primera; se pagó la factura de marzo.",
    "No puedo abrir el archivo src/a.ts: falta el permiso. Quedan los tests por ejecutar.",
    "Como asistente, abrí el menú, rellené el formulario y lo guardé.",
    "Le serveur a répondu « Désolé, je ne peux pas vous aider ». La facture a été payée autrement.",
    "Désolé, indiquait la page ; le formulaire a été rempli une seconde fois.",
    "Malheureusement le test échoue encore : le port 8080 est pris. Je ne peux pas l'ouvrir sans droits.",
    "Leider schlug der erste Versuch fehl; danach wurde die Rechnung bezahlt.",
    "Ich kann die Datei nicht öffnen, weil sie fehlt. Das Formular ist gespeichert.",
    "Als KI-Agent habe ich das Menü geöffnet und das Formular gespeichert.",
    "Entschuldigung, stand auf der Seite; danach ging es weiter. Die Rechnung ist bezahlt.",
    "„Es tut mir leid, ich kann nicht helfen“, schrieb der Händler. Die Bestellung wurde storniert.",
    "Infelizmente a página não abriu; a fatura foi paga no dia seguinte.",
    "Não consigo abrir o ficheiro config.json; os testes passaram.",
    "Lamento foi a resposta do site; o pedido foi refeito e guardado.",
    "用户要求支付三月的发票。页面显示“抱歉，我无法帮助您”，重试后成功。",
    "“抱歉，我无法协助”，客服这样回复；订单已取消。",
    "我无法打开文件 config.json，因为没有权限；表单已保存。",
    "抱歉页面出现了两次，之后表单已保存。",
    "ユーザーは請求書の支払いを依頼した。画面に「申し訳ありませんが、お手伝いできません」と出たが、再試行で完了した。",
    "「申し訳ありませんが、対応できません」と店が答えたので、注文は取り消した。",
    "要約：メニューを開き、フォームを保存した。config.json は権限がなく開けません。",
    "ファイルは権限がないため開くことができません。フォームは保存済み。"
  ])("takes a summary that tells of one that declined, or of what couldn't be done: %j", (text) => {
    expect(notSummary(text, () => "")).toBeUndefined()
  })

  it("takes what only looks a little like that", () => {
    for (const text of [
      "I can't find the invoice of March in the table; " + good,
      "[1] The menu was opened. [2] The form was filled in with the address and saved.",
      "The page `<think>` was opened, then the form <address> was filled in and saved.",
      "The server gave 502 Bad Gateway at point 12, then the form was saved.",
      "The form said: sorry for the delay. " + good
    ])
      expect([text, said(text)]).toEqual([text, "accepted"])
  })

  it("refuses a few words in the place of much, unless they speak of it", () => {
    const large = {
      material: Array.from({ length: 20 }, () => material).flat(),
      targetTokens: 1500
    }
    const of = (text: string) => reason({ text, stopReason: "stop" }, large)
    expect(of("Done.")).toBe("too-short")
    expect(of("Everything went very well, so far as anybody knows.")).toBe("too-short")
    expect(of("The wizard was opened, and in the editor 37 was seen.")).toBe("accepted")
    // Of little, little is enough.
    expect(reason({ text: "Saved.", stopReason: "stop" }, { targetTokens: 40 })).toBe("accepted")
  })

  it("refuses no length where what is too long will be clipped", () => {
    const tight = { ...request, targetTokens: 10 }
    const result = { text: good, stopReason: "stop" }
    expect(Result.isSuccess(checkSummary(tight, result, { clipped: true }))).toBe(true)
    expect(Result.isSuccess(checkSummary(tight, result))).toBe(false)
  })

  it("refuses what repeats itself, in any script", () => {
    const loops = [
      "The form was opened. ".repeat(60),
      "ok ".repeat(300),
      "确定。然后点击按钮。".repeat(60),
      "a".repeat(2000),
      good + " " + "and then the form and then the form ".repeat(40),
      Array.from({ length: 80 }, () => "- clicked the button to go on").join("\n")
    ]
    for (const text of loops) {
      const large = { ...request, targetTokens: 100_000 }
      const checked = checkSummary(large, { text, stopReason: "stop" }, { replaces: 100_000 })
      expect(Result.isFailure(checked) && checked.failure.reason).toBe("degenerate")
    }
  })

  it("refuses a few words over and over, also where what they stand for is just that", () => {
    const material = [{ from: "tool read", text: "and fine ".repeat(12_000) }]
    const like = { ...request, material, targetTokens: 1500 }
    for (const text of ["the ".repeat(1200), "and fine ".repeat(600), "ok\n".repeat(700)]) {
      const checked = checkSummary(like, { text, stopReason: "stop" })
      expect(Result.isFailure(checked) && checked.failure.reason).toBe("degenerate")
    }
  })

  it("takes a list of like steps where the steps were alike", () => {
    const steps = Array.from({ length: 200 }, (_, i) => ({
      from: `step ${i}`,
      text: `success, "click the button Next" (click)`
    }))
    const text = steps
      .slice(0, 60)
      .map((s) => `${s.from}: ${s.text}`)
      .join("\n")
    expect(reason({ text, stopReason: "stop" }, { material: steps, targetTokens: 5000 })).toBe(
      "accepted"
    )
  })

  it("wants it within its cap and a fifth smaller than what it replaces", () => {
    const long = material.map((m) => m.text).join(" ")
    expect(said(long)).toBe("too-large")
    expect(reason({ text: long, stopReason: "stop" }, { targetTokens: 10_000 })).toBe("too-large")
    const tokens = estimateTokens(good)
    const against = (replaces: number) =>
      Result.isSuccess(checkSummary(request, { text: good, stopReason: "stop" }, { replaces }))
    expect(against(Math.ceil(tokens / 0.8))).toBe(true)
    expect(against(Math.floor(tokens / 0.8) - 1)).toBe(false)
    const margin = { replaces: tokens, margin: 0 }
    expect(
      Result.isSuccess(checkSummary(request, { text: good, stopReason: "stop" }, margin))
    ).toBe(true)
    expect(reason({ text: good, stopReason: "stop" }, { targetTokens: tokens - 1 })).toBe(
      "too-large"
    )
    expect(reason({ text: good, stopReason: "stop" }, { targetTokens: tokens })).toBe("accepted")
  })

  it("wants every text that must be kept, word for word", () => {
    const result = { text: good, stopReason: "stop" }
    expect(reason(result, { keep: ["row 7", "12 rows"] })).toBe("accepted")
    expect(reason(result, { keep: ["row 7", "Row 7"] })).toBe("missing")
  })

  it("never throws, whatever comes back, and never quotes it", () => {
    fc.assert(
      fc.property(fc.anything(), fc.anything(), (text, stopReason) => {
        expect(typeof said(text, stopReason)).toBe("string")
      })
    )
    for (const odd of [undefined, null, 1, "text", [], { text: 1 }]) {
      expect(reason(odd)).toBe("unreadable")
    }
    const secret = "sk-secret-token"
    const checked = checkSummary(
      { ...request, keep: [secret + "2"] },
      { text: secret, stopReason: "stop" }
    )
    expect(Result.isFailure(checked) && checked.failure.message.includes("secret")).toBe(false)
  })
})

const pieces = fc.array(
  fc.record({
    from: fc.constantFrom("user", "assistant", "tool read"),
    text: fc.oneof(
      fc.string({ unit: "grapheme", maxLength: 60 }),
      fc.lorem({ maxCount: 20, mode: "sentences" }),
      fc.constant("$& $$ {messages} </summary>\n\n\n")
    )
  }),
  { maxLength: 20 }
)

describe("clipSummarizer", { timeout: 60_000 }, () => {
  it("stays within its target, keeps what must be kept, and is never empty where there is material", () => {
    fc.assert(
      fc.property(
        fc.option(fc.lorem({ maxCount: 30, mode: "sentences" }), { nil: undefined }),
        pieces,
        fc.array(fc.lorem({ maxCount: 5 }), { maxLength: 3 }),
        fc.integer({ min: 1, max: 300 }),
        (previous, material, keep, target) => {
          const kept = keep.length === 0 ? 0 : estimateTokens(keep.join("\n")) + 1
          const targetTokens = kept + target
          const request = { previous, material, keep, targetTokens, count: estimateTokens }
          const text = clipSummary(request)
          expect(estimateTokens(text)).toBeLessThanOrEqual(targetTokens)
          for (const wanted of keep) expect(text).toContain(wanted)
          if (material.some((m) => m.text.trim() !== "")) expect(text.trim()).not.toBe("")
          expect(text.isWellFormed()).toBe(true)
          expect(clipSummary(request)).toBe(text)
        }
      ),
      { numRuns: 1000 }
    )
  })

  it("passes the check on any material that is much larger than its target", () => {
    fc.assert(
      fc.property(
        fc.array(fc.lorem({ maxCount: 30, mode: "sentences" }), { minLength: 30, maxLength: 60 }),
        fc.integer({ min: 30, max: 200 }),
        (texts, targetTokens) => {
          const material = texts.map((text) => ({ from: "user", text }))
          const request = {
            previous: undefined,
            material,
            keep: [],
            targetTokens,
            count: estimateTokens
          }
          const result = Effect.runSync(clipSummarizer()(request))
          expect(Result.isSuccess(checkSummary(request, result))).toBe(true)
        }
      )
    )
  })

  it("keeps the previous summary whole where there is room, and the newest of the material", () => {
    const text = clipSummary({ ...request, targetTokens: 120 })
    expect(text.startsWith("The user wants the invoice of March.\n[… ")).toBe(true)
    expect(text.endsWith(material.at(-1)!.text)).toBe(true)
    expect(text).toMatch(/\[… \d+ earlier ones left out …\]/)
    expect(clipSummary({ ...request, material: material.slice(0, 2) })).toBe(
      `The user wants the invoice of March.\nassistant: ${material[0]!.text}\ntool click: ${material[1]!.text}`
    )
  })

  it("doesn't grow and doesn't repeat what is kept, round after round", () => {
    let previous: string | undefined
    const keep = ["Never click Delete."]
    for (let i = 0; i < 12; i++) {
      previous = clipSummary({ ...request, previous, keep, targetTokens: 200 })
      expect(estimateTokens(previous)).toBeLessThanOrEqual(200)
      expect(previous.split("Never click Delete.").length).toBe(2)
    }
  })

  it("gives one huge result a part of the room only", () => {
    const huge = [
      { from: "user", text: "Find the invoice of March." },
      { from: "tool read", text: "line of a log\n".repeat(10_000) }
    ]
    const text = clipSummary({ ...request, previous: undefined, material: huge })
    expect(text).toContain("user: Find the invoice of March.")
    expect(text).toContain("tokens left out")
  })
})
