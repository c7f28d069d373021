import { CurrentRedact } from "@varve/core/Redact"
import type { SummaryRequest } from "@varve/core/Summarizer"
import { SummaryError } from "@varve/core/VarveError"
import { Warn } from "@varve/core/Warn"
import { fallbackSummarizer, modelSummarizer } from "@varve/strategy-llm-summary"
import * as Effect from "effect/Effect"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { failure } from "../src/internal/failure.ts"

const same = (text: string) => text
const of = (message: string) => failure(message, same)

const passing = [
  "429 status code (no body)",
  '429 {"error":{"message":"Rate limit reached for requests per minute"}}',
  "500 Internal Server Error",
  "503 Service Unavailable",
  "529 overloaded_error",
  '{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}',
  "HTTP 502 Bad Gateway",
  "status code 504",
  "408 Request Timeout",
  "Connection error.",
  "fetch failed",
  "terminated",
  "read ECONNRESET",
  "socket hang up",
  "getaddrinfo EAI_AGAIN api.example.com",
  "Request timed out.",
  "Anthropic stream ended before message_stop",
  "Stream ended without finish_reason",
  "The model is currently experiencing high demand. Please try again later."
]

const lasting = [
  "401 Incorrect API key provided",
  "403 Forbidden",
  "404 model not found",
  '400 {"error":{"message":"timeout must be a number"}}',
  '429 {"error":{"code":"insufficient_quota","message":"You exceeded your current quota"}}',
  "402 Payment Required",
  "Your credit balance is too low",
  "501 Not Implemented",
  "No API key for provider: anthropic",
  "the parameter 1500 is out of range",
  ""
]

const overflow = [
  "400 prompt is too long: 215000 tokens > 200000 maximum",
  "413 request_too_large",
  "400 This model's maximum context length is 8192 tokens",
  '400 {"error":{"code":"context_length_exceeded"}}',
  "input token count (9000) exceeds the maximum number of tokens allowed (8192)",
  "Please reduce the length of the messages",
  "the request exceeds the available context size",
  "413 status code (no body)"
]

describe("a failed call", () => {
  it.each(passing)("may pass: %s", (message) => {
    expect(of(message)).toMatchObject({ reason: "failed", transient: true })
  })

  it.each(lasting)("doesn't pass by itself: %s", (message) => {
    expect(of(message)).toMatchObject({ reason: "failed", transient: false })
  })

  it.each(overflow)("was too long: %s", (message) => {
    expect(of(message)).toMatchObject({ reason: "too-large", transient: false })
  })

  it("goes by the status that an error carries", () => {
    const error = (status: number) => Object.assign(new Error("it failed"), { status })
    expect(failure(error(503), same).transient).toBe(true)
    expect(failure(error(400), same).transient).toBe(false)
    expect(failure(Object.assign(new Error("x"), { statusCode: 429 }), same).transient).toBe(true)
  })

  it("knows an abort and passes on what is typed already", () => {
    expect(failure(new DOMException("x", "AbortError"), same).reason).toBe("aborted")
    const typed = new SummaryError("blank", "nothing")
    expect(failure(typed, same)).toBe(typed)
  })

  it("tells no key and no data", () => {
    const { message } = of(
      `401 Incorrect API key provided: sk-proj-abcdefgh12345678. Header: Bearer abcdefghijklmnop, body ${"QUJD".repeat(400)}`
    )
    expect(message).not.toMatch(/abcdefgh|QUJDQUJD/)
    expect(of("x ".repeat(5000)).message.length).toBeLessThan(240)
  })

  it("tells nothing where a redaction fails", () => {
    const redact = () => {
      throw new Error("the password is hunter2")
    }
    expect(failure(new Error("hunter2 is wrong"), redact).message).toBe(
      "The model failed: without a word why"
    )
  })

  it("never throws, whatever was thrown", () => {
    fc.assert(
      fc.property(fc.anything(), (thrown) => {
        expect(failure(thrown, same)).toBeInstanceOf(SummaryError)
      })
    )
  })
})

describe("what the memory takes out", () => {
  const secret = 'line one\n\t"line two" \\end'
  const redact = (text: string) => text.replaceAll(secret, "[secret]")
  const request: SummaryRequest = {
    previous: undefined,
    material: [
      { from: "assistant", text: `[call of type with ${JSON.stringify({ key: secret })}]` }
    ],
    keep: [],
    targetTokens: 100,
    count: (text) => text.length / 4
  }

  it("is in no error, though what a provider says is put on one line", async () => {
    const complete = () => Promise.reject(new Error(`401 for key ${secret} of yours`))
    const error = await Effect.runPromise(
      Effect.flip(modelSummarizer({ complete })(request)).pipe(
        Effect.provideService(CurrentRedact, redact)
      )
    )
    expect(error.message).toBe("The model failed: 401 for key [secret] of yours")
  })

  it("is in no prompt where the summarizer's own `redact` takes it out, escaped as in arguments", async () => {
    let asked = ""
    const complete = ({ prompt }: { readonly prompt: string }) => {
      asked = prompt
      return Promise.resolve({ text: "A key was typed.", stopReason: "stop" })
    }
    await Effect.runPromise(modelSummarizer({ complete, redact })(request))
    expect(asked).toContain('{"key":"[secret]"}')
    expect(asked).not.toContain("line one")
  })

  it("a chain tells of the summarizer that it goes past", async () => {
    const told: Array<string> = []
    const down = modelSummarizer({ complete: () => Promise.reject(new Error("401 no such key")) })
    await Effect.runPromise(
      fallbackSummarizer(down, () => ({ text: "A key was typed.", stopReason: "stop" }))(
        request
      ).pipe(Effect.provideService(Warn, (_, message) => void told.push(message)))
    )
    expect(told).toEqual(["the next summarizer is asked: The model failed: 401 no such key"])
  })
})
