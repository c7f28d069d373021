import { isContextOverflow as inLivingLine } from "@earendil-works/pi-ai/utils/overflow"
import { isContextOverflow as inFrozenLine } from "@mariozechner/pi-ai"
import type { Overflow } from "@varve/core/Profile"
import { classify, profile } from "@varve/profiles"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"

type Row = readonly [error: unknown, expected: Omit<Overflow, "reason">]

const tokens = (actual?: number, limit?: number): Omit<Overflow, "reason"> => ({
  kind: "tokens",
  ...(actual === undefined ? {} : { actual }),
  ...(limit === undefined ? {} : { limit })
})

const images = (actual?: number, limit?: number) => ({
  ...tokens(actual, limit),
  kind: "image-count" as const
})
const bytes = (actual?: number, limit?: number) => ({
  ...tokens(actual, limit),
  kind: "bytes" as const
})
const size = (
  unit?: Overflow["unit"],
  actual?: number,
  limit?: number,
  paths?: ReadonlyArray<string>
) => ({
  ...tokens(actual, limit),
  kind: "image-size" as const,
  ...(unit === undefined ? {} : { unit }),
  ...(paths === undefined ? {} : { paths })
})

const check = (error: unknown, expected: Omit<Overflow, "reason">) => {
  const { reason, ...found } = classify(error) ?? {}
  expect(found).toEqual(expected)
  expect(reason).toBeTypeOf("string")
}

describe("too many tokens", () => {
  const rows: ReadonlyArray<Row> = [
    // Anthropic
    ["prompt is too long: 204918 tokens > 200000 maximum", tokens(204_918, 200_000)],
    ["Prompt too long", tokens()],
    [
      "messages: input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000",
      tokens(190_000, 180_000)
    ],
    // z.ai
    ["Prompt exceeds max length", tokens()],
    [{ error: { code: "1261", message: "提示词超长" } }, tokens()],
    [{ error: { code: 1261, message: "" } }, tokens()],
    // Amazon Bedrock
    ["ValidationException: Input is too long for requested model.", tokens()],
    // OpenAI
    ["Your input exceeds the context window of this model. Shorten it.", tokens()],
    [{ error: { code: "context_length_exceeded", message: "No room." } }, tokens()],
    [
      "This model's maximum context length is 128000 tokens. However, your messages resulted in 131072 tokens.",
      tokens(131_072, 128_000)
    ],
    [
      "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 301007 tokens.",
      tokens(301_007, 272_000)
    ],
    // Proxies
    [
      "The request exceeds the model's maximum context length of 131,072 tokens",
      tokens(undefined, 131_072)
    ],
    [
      "Input length (265001) exceeds model's maximum context length (262144).",
      tokens(265_001, 262_144)
    ],
    ["400: context length exceeded", tokens()],
    ["Too many tokens in the prompt", tokens()],
    ["token limit exceeded", tokens()],
    ["Error: the token limit was exceeded by this request", tokens()],
    // LiteLLM
    ["litellm.ContextWindowExceededError: the call does not fit", tokens()],
    ["Context window exceeded for this call", tokens()],
    ["prompt and answer exceed context limit", tokens()],
    ["You are over this model's maximum context limit", tokens()],
    ["The prompt is longer than the model's context length", tokens()],
    // Google
    [
      "The input token count (1250001) exceeds the maximum number of tokens allowed (1048576).",
      tokens(1_250_001, 1_048_576)
    ],
    [
      "The input token count is 40000 and exceeds the maximum, the model supports up to 32768 tokens",
      tokens(40_000, 32_768)
    ],
    [
      "Unable to submit request because the input token count is 1100000 but model only supports up to 1048576.",
      tokens(1_100_000, 1_048_576)
    ],
    // xAI
    [
      "This model's maximum prompt length is 131072 but the request contains 140001 tokens.",
      tokens(140_001, 131_072)
    ],
    // Groq
    ["Please reduce the length of the messages or completion.", tokens()],
    // OpenRouter, vLLM, Together, TGI
    [
      "This endpoint's maximum context length is 65536 tokens. However, you requested about 70000 tokens (66000 of text input, 4000 in the output).",
      tokens(66_000, 61_536)
    ],
    [
      "This model's maximum context length is 32768 tokens. However, you requested 33500 tokens (31500 in the messages, 2000 in the completion).",
      tokens(31_500, 30_768)
    ],
    [
      "'max_tokens' is too large: 8192. This model's maximum context length is 32768 tokens and your request has 30000 input tokens (8192 > 32768 - 30000).",
      tokens(30_000, 24_576)
    ],
    [
      "Input length 300000 exceeds the maximum allowed input length of 262112 tokens.",
      tokens(300_000, 262_112)
    ],
    [
      "The input (265000 tokens) is longer than the model's context length (262144 tokens).",
      tokens(265_000, 262_144)
    ],
    [
      "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 4000 `inputs` tokens and 500 `max_new_tokens`",
      tokens(4000, 3596)
    ],
    [
      "Requested token count exceeds the model's maximum context length of 131072 tokens. You requested a total of 140000 tokens: 132500 tokens from the input messages and 7500 tokens for the completion.",
      tokens(132_500, 123_572)
    ],
    [
      "The prompt is too long: 140020, model maximum context length: 131071",
      tokens(140_020, 131_071)
    ],
    [
      '{"error":{"message":"the request exceeds the available context size","n_prompt_tokens":9001,"n_ctx":8192}}',
      tokens(9001, 8192)
    ],
    // GitHub Copilot
    ["prompt token count of 140233 exceeds the limit of 128000", tokens(140_233, 128_000)],
    // Local servers
    [
      "the request exceeds the available context size (8192 tokens), try to raise it",
      tokens(undefined, 8192)
    ],
    ["request (9000 tokens) exceeds the available context size (8192 tokens)", tokens(9000, 8192)],
    ["The tokens to keep from the first prompt are greater than the context length", tokens()],
    ["prompt too long; exceeded max context length by 812 tokens", tokens()],
    ["prompt too long; exceeded context length", tokens()],
    [
      "Prompt has 140,000 tokens, but the configured context size is 131,072 tokens",
      tokens(140_000, 131_072)
    ],
    // MiniMax, Kimi, Mistral, DashScope
    ["invalid params, context window exceeds limit (2013)", tokens()],
    [
      "Your request exceeded model token limit: 262144 (requested: 270011)",
      tokens(270_011, 262_144)
    ],
    [
      "Prompt contains 140021 tokens and 0 draft tokens, too large for model with 131072 maximum context length",
      tokens(140_021, 131_072)
    ],
    ["Range of input length should be [1, 129024]", tokens(undefined, 129_024)],
    // Others
    [
      "Invalid 'messages[3].content': string too long. Expected a string with maximum length 1048576, but got one of 1200000.",
      tokens()
    ],
    ["current length is 140000 while limit is 131072", tokens(140_000, 131_072)],
    ["the maximum input length is 30720 tokens", tokens(undefined, 30_720)],
    ["finish reason: model_context_window_exceeded", tokens()],
    [{ stop_reason: "model_context_window_exceeded", content: [] }, tokens()],
    [
      { role: "assistant", stopReason: "length", rawStopReason: "model_context_window_exceeded" },
      tokens()
    ],
    [{ choices: [{ finish_reason: "model_context_window_exceeded", message: {} }] }, tokens()],
    // Cerebras
    ["400 status code (no body)", tokens()],
    ["400 (no body)", tokens()],
    [
      {
        role: "assistant",
        provider: "cerebras",
        stopReason: "error",
        errorMessage: "400 status code (no body)"
      },
      tokens()
    ]
  ]
  it.each(rows)("%j", check)
})

describe("too many images", () => {
  const rows: ReadonlyArray<Row> = [
    ["messages: too many images: 101 > 100", images(101, 100)],
    ["Exceeded maximum number of images (50)", images(undefined, 50)],
    ["messages.26.content: too many images and documents: 21 + 0 > 20", images(21, 20)],
    ["The maximum number of images per request is 20", images(undefined, 20)],
    ["Too many images in the request. At most 16 images are allowed.", images(undefined, 16)],
    ["Too many images were sent: got 1501 images, limit is 1500", images(1501, 1500)],
    ["The request contains 3700 images, which exceeds the limit of 3600.", images(3700, 3600)],
    ["The number of images (601) exceeds the limit of 600", images(601, 600)],
    ["You can send up to 5 images with this model", images(undefined, 5)],
    ["At most 4 image(s) may be provided in one prompt.", images(undefined, 4)],
    ["You set limit-mm-per-prompt to 1 but passed 3 image items.", images(3, undefined)],
    ["This request exceeds the limit of 100 images", images(undefined, 100)],
    ["image limit exceeded", images()],
    [{ error: { code: "max_images_per_request", message: "Reduce the input." } }, images()],
    [{ error: { type: "image_count_exceeded" } }, images()],
    ["A maximum of 100 PDF pages may be provided.", images(undefined, 100)],
    ["413 too many images: 150 > 100", images(150, 100)],
    ["too many image_url parts: 12 > 10", images(12, 10)],
    ["no more than 20 images may stand in one message", images(undefined, 20)]
  ]
  it.each(rows)("%j", check)
})

describe("an image that is too large", () => {
  const rows: ReadonlyArray<Row> = [
    [
      {
        status: 400,
        error: {
          type: "invalid_request_error",
          details: { error_code: "image_dimensions_too_large" },
          message: "image_dimensions_too_large"
        }
      },
      size("px")
    ],
    [
      JSON.stringify({
        error: {
          code: "image_dimensions_too_large",
          max_side_length_pixels: 2000,
          paths: ["messages.3.content.0", "messages.9.content.1"]
        }
      }),
      size("px", undefined, 2000, ["messages.3.content.0", "messages.9.content.1"])
    ],
    [
      "messages.4.content.1.image: one of the image dimensions exceeds the size for many-image requests: 2000 pixels",
      size("px", undefined, 2000)
    ],
    ["The image dimensions exceed the allowed maximum: 8000 pixels", size("px", undefined, 8000)],
    ["Image is 9000x4000 pixels, the maximum edge is 8000", size("px", 9000, 8000)],
    ["image height must not exceed 65535 px", size("px", undefined, 65_535)],
    [
      "messages.0.content.0.image.source.base64: image exceeds 5 MB maximum: 6291456 bytes > 5242880 bytes",
      size("bytes", 6_291_456, 5_242_880)
    ],
    ["image exceeds 10 MB maximum", size("bytes", undefined, 10_000_000)],
    ["The image file size must be less than 20MB", size("bytes", undefined, 20_000_000)],
    ["413 image exceeds the 5MB limit", size("bytes", undefined, 5_000_000)],
    ["The image has 31416 patches, the limit is 30000", size("patches", 31_416, 30_000)],
    ["Image exceeds the maximum of 30000 patches", size("patches", undefined, 30_000)],
    ["Your image is too large", size()],
    [{ error: { code: "image_too_large", message: "Use a smaller one." } }, size()],
    ["absolute aspect ratio must be smaller than 200, got 240.0", size()]
  ]
  it.each(rows)("%j", check)
})

describe("too many bytes", () => {
  const rows: ReadonlyArray<Row> = [
    [
      '413 {"error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}',
      bytes()
    ],
    [{ type: "error", error: { type: "request_too_large", message: "Too big" } }, bytes()],
    ["Request Entity Too Large", bytes()],
    ["PayloadTooLargeError: request entity too large", bytes()],
    ["Request payload size exceeds the limit: 20971520 bytes.", bytes(undefined, 20_971_520)],
    [
      "maximum request body size 4194304 exceeded, actual body size 5000000 bytes",
      bytes(5_000_000, 4_194_304)
    ],
    ["The request body exceeds the size that is allowed: 32 MB", bytes(undefined, 32_000_000)],
    ["The total size of all images exceeds 30 MB", bytes(undefined, 30_000_000)],
    ["github-copilot API error (413): failed to parse request", bytes()],
    ["Request failed with status code 413", bytes()],
    ["413 status code (no body)", bytes()],
    [{ status: 413 }, bytes()]
  ]
  it.each(rows)("%j", check)

  it("a 413 from a gateway without a word of tokens is bytes", () => {
    check(new Response("<html>nginx</html>", { status: 413 }), bytes())
    check(Object.assign(new Error("Client error"), { statusCode: 413 }), bytes())
    check("HTTP/1.1 413 Content", bytes())
  })

  it("a 413 that speaks of tokens is tokens", () => {
    check({ status: 413, message: "prompt is too long: 5 tokens > 4 maximum" }, tokens(5, 4))
    const body = { type: "request_too_large", message: "prompt is too long: 5 tokens > 4 maximum" }
    check(`413 ${JSON.stringify(body)}`, tokens(5, 4))
  })
})

describe("none of these", () => {
  it.each([
    // Limits over time
    "Rate limit reached for gpt-5 on tokens per min (TPM): Limit 30000, Used 29000, Requested 2000",
    "Request too large for model on tokens per minute (TPM): Limit 6000, Requested 8000, please reduce the length of the messages",
    "This request would exceed the rate limit of 40000 input tokens a minute",
    "Too many requests",
    "Too many tokens, please wait before trying again.",
    "ThrottlingException: Too many tokens",
    "Throttling error: too many tokens per day",
    "Your daily token limit exceeded",
    "token limit exceeded: 100000 tokens per day",
    "You exceeded your current quota",
    "RESOURCE_EXHAUSTED: input token count exceeds the maximum for your tier",
    "Slow down: the limit of 50 images per minute is reached",
    "litellm.RateLimitError: context window exceeded",
    "You have hit your monthly usage limit of 5000 images",
    { status: 429, message: "maximum context length is 10 tokens" },
    { status: 429, message: "too many images: 5 > 4" },
    "429 prompt is too long",
    { code: 429, message: "token limit exceeded" },
    { name: "ThrottlingException", message: "Too many tokens", $metadata: { httpStatusCode: 429 } },
    // The provider's trouble
    "Service unavailable: too many tokens in flight",
    "Overloaded",
    { status: 529, error: { type: "overloaded_error", message: "Overloaded" } },
    { status: 503, message: "prompt too long" },
    // Who asks
    { status: 401, message: "authentication_error: invalid x-api-key" },
    "Your authentication token is too long: 5000 > 4096",
    "Incorrect API key provided; request too large",
    "Your credit balance is too low",
    { status: 403, message: "Request not allowed" },
    // One field
    "Invalid 'user': string too long. Expected a string with maximum length 64, but got a string with length 90 instead.",
    "Invalid 'tools[0].function.description': string too long. Expected a string with maximum length 102400, but got one of 200000.",
    {
      error: {
        code: "string_above_max_length",
        message: "string too long. Expected a string with maximum length 1048576"
      }
    },
    "Invalid 'tools': array too long. Expected an array with maximum length 128, but got one of 200.",
    "The number of tools exceeds the limit of 128",
    "max_tokens: 200000 > 128000, which is the most that this model may answer",
    "max_tokens is too large: 200000. This model supports at most 16384 completion tokens",
    "metadata.user_id exceeds the limit of 256 characters",
    "prompt_cache_key exceeds the limit of 64 characters",
    "The description of the token tool exceeds the limit of 1024 characters",
    "The input field exceeds the limit of 512",
    "The system prompt must not be empty",
    // Images that fail for another reason
    "This model does not support image input",
    "Unsupported image format: tiff",
    "Could not process image",
    "The image is too small: width must be larger than 10",
    "Invalid base64 in image",
    // Others
    "messages.1.content.0: Invalid `signature` in `thinking` block",
    "No tool output found for function call call_1",
    "Connection error.",
    "fetch failed",
    "The operation was aborted",
    "500 Internal Server Error",
    "404 model not found",
    "400 Bad Request",
    {
      role: "assistant",
      provider: "openai",
      stopReason: "error",
      errorMessage: "400 status code (no body)"
    },
    "",
    "ok"
  ])("%j", (error) => expect(classify(error)).toBeUndefined())

  it("what a model or a user has written is not an error", () => {
    const text = "prompt is too long: 5 tokens > 4 maximum"
    expect(
      classify({ role: "assistant", stopReason: "stop", content: [{ type: "text", text }] })
    ).toBeUndefined()
    expect(classify({ role: "user", content: text })).toBeUndefined()
    expect(
      classify({ choices: [{ finish_reason: "stop", message: { content: text } }] })
    ).toBeUndefined()
  })
})

describe("an error in any wrapping", () => {
  const said = "prompt is too long: 204918 tokens > 200000 maximum"
  const body = { type: "error", error: { type: "invalid_request_error", message: said } }

  it.each([
    ["a text", said],
    ["an Error", new Error(said)],
    ["a cause", new Error("request failed", { cause: new Error("inner", { cause: { body } }) })],
    ["an SDK's error", Object.assign(new Error("400"), { status: 400, error: body })],
    ["a body", body],
    ["a body in a text", JSON.stringify(body)],
    [
      "a body in a text in a text",
      JSON.stringify({ error: { metadata: { raw: JSON.stringify(body) } } })
    ],
    [
      "AI SDK",
      { name: "AI_APICallError", statusCode: 400, responseBody: JSON.stringify(body), data: body }
    ],
    [
      "axios",
      { message: "Request failed with status code 400", response: { status: 400, data: body } }
    ],
    ["an AggregateError", new AggregateError([new Error("first"), new Error(said)], "all failed")],
    [
      "a retry",
      { reason: "maxRetriesExceeded", errors: [{}, { message: said }], lastError: new Error(said) }
    ],
    [
      "pi's message",
      {
        role: "assistant",
        content: [],
        stopReason: "error",
        errorMessage: `400 ${JSON.stringify(body)}`
      }
    ],
    [
      "an Effect failure",
      { _tag: "AiError", reason: { _tag: "InvalidRequest", description: "no", cause: body } }
    ]
  ])("%s", (_, error) => check(error, tokens(204_918, 200_000)))

  it("the reason is the classifier's own text, not the provider's", () => {
    const found = classify(new Error(`${said} sk-secret-key`))
    expect(found?.reason).toBe("Anthropic, z.ai, Ollama: prompt too long")
  })

  it("every profile carries the classifier", () => {
    expect(profile("claude-opus-5.5").classify).toBe(classify)
  })
})

describe("laws", () => {
  const phrases = [
    "prompt is too long",
    "too many images",
    "413",
    "context length exceeded",
    "image exceeds 5 MB maximum",
    "rate limit",
    "tokens",
    "9".repeat(400),
    "> ",
    "maximum context length is 5 tokens",
    "\n",
    "[",
    "]",
    "paths: ["
  ]
  const texts = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.array(fc.constantFrom(...phrases), { maxLength: 12 }).map((list) => list.join(" "))
  )

  it("never throws and gives whole positive figures, whatever it is given", () => {
    const keys = fc.constantFrom(
      "message",
      "error",
      "cause",
      "body",
      "status",
      "code",
      "errors",
      "stopReason",
      "errorMessage",
      "data",
      "provider"
    )
    const nested = fc.letrec((self) => ({
      any: fc.oneof({ maxDepth: 5 }, texts, fc.anything(), self("object"), self("list")),
      object: fc.dictionary(keys, self("any")),
      list: fc.array(self("any"), { maxLength: 4 })
    })).any
    fc.assert(
      fc.property(
        fc.oneof(
          nested,
          texts.map((text) => new Error(text))
        ),
        (error) => {
          const found = classify(error)
          if (found === undefined) return
          expect(["tokens", "image-count", "image-size", "bytes"]).toContain(found.kind)
          for (const number of [found.actual, found.limit]) {
            if (number !== undefined) expect(Number.isSafeInteger(number) && number > 0).toBe(true)
          }
          expect(found.reason).toBeTypeOf("string")
        }
      ),
      { numRuns: 3000 }
    )
  })

  it("survives what fights back: cycles, throwing getters, proxies, frozen and endless things", () => {
    const cycle: Record<string, unknown> = { message: "prompt is too long" }
    cycle["cause"] = cycle
    expect(classify(cycle)?.kind).toBe("tokens")
    const getter = Object.defineProperty({ error: "too many images" }, "message", {
      get: () => {
        throw new Error("no")
      }
    })
    expect(classify(getter)?.kind).toBe("image-count")
    const hostile = new Proxy(
      {},
      {
        get: () => {
          throw new Error("no")
        },
        has: () => {
          throw new Error("no")
        }
      }
    )
    expect(classify(hostile)).toBeUndefined()
    const revoked = Proxy.revocable({}, {})
    revoked.revoke()
    expect(classify({ error: revoked.proxy, message: "prompt is too long" })?.kind).toBe("tokens")
    const endless: object = new Proxy(
      {},
      { get: (_, key) => (typeof key === "string" ? endless : undefined) }
    )
    expect(classify(endless)).toBeUndefined()
    const deep = Array.from({ length: 5000 }).reduce<unknown>(
      (cause) => ({ cause }),
      "prompt is too long"
    )
    expect(classify(deep)).toBeUndefined()
    expect(classify(Object.freeze({ errors: Array.from({ length: 1_000_000 }) }))).toBeUndefined()
    for (const odd of [
      undefined,
      null,
      0,
      NaN,
      413n,
      Symbol("413"),
      () => "prompt is too long",
      new Map(),
      new Date(0)
    ]) {
      expect(classify(odd)).toBeUndefined()
    }
  })

  it("is soon done with megabytes of one character, digits or near matches", () => {
    for (const text of [
      "9".repeat(2_000_000),
      "a".repeat(2_000_000),
      "1,".repeat(1_000_000),
      "image ".repeat(400_000),
      "request ".repeat(300_000),
      "exceeds ".repeat(300_000)
    ]) {
      classify(text)
      classify({ message: text, error: { message: text, cause: [text, text] } })
    }
    expect(classify("x".repeat(1000) + " prompt is too long " + "y".repeat(5_000_000))?.kind).toBe(
      "tokens"
    )
  })

  it("never takes a rate limit for an overflow, however it is put", () => {
    const number = fc.integer({ min: 1, max: 5_000_000 })
    const what = fc.constantFrom("tokens", "requests", "images", "input tokens", "prompt tokens")
    const time = fc.constantFrom("second", "minute", "hour", "day", "month")
    const overflow = fc.constantFrom(
      "",
      "prompt is too long",
      "the maximum context length is 200000 tokens",
      "too many images",
      "request too large",
      "reduce the length of the messages",
      "the context window exceeds limit",
      "input token count exceeds the maximum",
      "413"
    )
    const limit = fc.oneof(
      fc.tuple(number, what, time).map(([n, w, t]) => `Rate limit of ${n} ${w} per ${t} reached`),
      fc
        .tuple(number, what, time)
        .map(([n, w, t]) => `You may send ${n} ${w} per ${t}; this exceeds it`),
      fc.tuple(number, what).map(([n, w]) => `Too many requests: ${n} ${w} already sent`),
      fc
        .tuple(number, number)
        .map(([n, m]) => `Rate-limited: exceeds the limit of ${n}, used ${m}`),
      fc
        .tuple(what, number)
        .map(([w, n]) => `Request was throttled: ${w} ${n}. Try again in ${n} seconds.`),
      fc
        .tuple(number, number)
        .map(([n, m]) => `on tokens per min (TPM): Limit ${n}, Requested ${m}`),
      fc
        .tuple(what, time)
        .map(([w, t]) => `The limit on ${w} for each ${t} is used up; retry after a while`),
      fc.tuple(number, what).map(([n, w]) => `rate_limit_error: ${n} ${w} > your tier's allowance`),
      number.map((n) => `You exceeded your current quota of ${n} tokens`),
      number.map((n) => `Slow down, ${n} images are in flight`)
    )
    fc.assert(
      fc.property(limit, overflow, fc.boolean(), (rate, text, first) => {
        const said = first ? `${text}. ${rate}` : `${rate}. ${text}`
        expect(classify(said)).toBeUndefined()
        expect(classify({ error: { message: text, type: rate } })).toBeUndefined()
        expect(
          classify({ role: "assistant", stopReason: "error", errorMessage: said })
        ).toBeUndefined()
      }),
      { numRuns: 1000 }
    )
  })

  it("ordinary English is no overflow", () => {
    const words = fc.constantFrom(
      "the",
      "model",
      "request",
      "image",
      "images",
      "token",
      "tokens",
      "limit",
      "is",
      "was",
      "user",
      "please",
      "check",
      "your",
      "a",
      "an",
      "invalid",
      "missing",
      "field",
      "found",
      "not",
      "value",
      "prompt",
      "message",
      "content",
      "5",
      "120"
    )
    fc.assert(
      fc.property(fc.array(words, { maxLength: 8 }), (list) => {
        // "limit is 5 images" is one; without a word of comparison, nothing else can be.
        fc.pre(
          !/limit(?: is)? (?:5|120)|(?:5|120) (?:\w+ )?images?\b.*limit is/.test(list.join(" "))
        )
        expect(classify(list.join(" "))).toBeUndefined()
      }),
      { numRuns: 2000 }
    )
  })
})

describe("beside pi's own check", () => {
  it("whatever pi takes for an overflow is tokens or bytes here, but for limits over time", () => {
    const message = (errorMessage: string) =>
      ({
        role: "assistant",
        content: [],
        stopReason: "error",
        errorMessage,
        provider: "cerebras"
      }) as never
    const texts = [
      "prompt is too long: 5 tokens > 4 maximum",
      "request_too_large",
      "Input is too long for requested model",
      "exceeds the context window",
      "input token count of 7 exceeds the maximum",
      "maximum prompt length is 5",
      "reduce the length of the messages",
      "maximum context length is 5 tokens",
      "prompt token count of 7 exceeds the limit of 5",
      "exceeds the available context size",
      "greater than the context length",
      "context window exceeds limit",
      "exceeded model token limit",
      "too large for model with 5 maximum context length",
      "model_context_window_exceeded",
      "prompt too long; exceeded context length",
      "context_length_exceeded",
      "too many tokens",
      "token limit exceeded",
      "400 (no body)",
      "413 status code (no body)",
      "prompt exceeds max length",
      "exceeds model's maximum context length (5)",
      "context window exceeded",
      "exceeds the maximum allowed input length of 5 tokens",
      "input (7 tokens) is longer than the model's context length (5 tokens)",
      "prompt has 7 tokens, but the configured context size is 5 tokens",
      "range of input length should be",
      "some API error (413): failed to parse request",
      "413 failed"
    ]
    for (const text of texts) {
      expect(inFrozenLine(message(text)) || inLivingLine(message(text)), text).toBe(true)
      expect(["tokens", "bytes"], text).toContain(classify(message(text))?.kind)
    }
  })
})
