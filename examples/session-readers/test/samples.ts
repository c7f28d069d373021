import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import * as ClaudeCode from "../src/ClaudeCode.ts"
import * as Cline from "../src/Cline.ts"
import * as Codex from "../src/Codex.ts"
import * as GeminiCli from "../src/GeminiCli.ts"
import * as Inspect from "../src/Inspect.ts"
import * as Midscene from "../src/Midscene.ts"
import * as OpenCua from "../src/OpenCua.ts"
import * as OpenHands from "../src/OpenHands.ts"
import * as OpenHandsSdk from "../src/OpenHandsSdk.ts"
import * as Pi from "../src/Pi.ts"
import * as ScreenAgent from "../src/ScreenAgent.ts"
import type { Session } from "../src/Session.ts"
import * as SweAgent from "../src/SweAgent.ts"
import * as UiTars from "../src/UiTars.ts"
import * as WebVoyager from "../src/WebVoyager.ts"

/** A PNG of one pixel. */
export const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

const uri = `data:image/png;base64,${PNG}`
const at = "2026-01-02T03:04:05.000Z"
const later = "2026-01-02T03:04:06.000Z"

/** A small log of one format: what is written where, and how it is read. */
export interface Sample {
  readonly format: string
  /** The file whose JSON is varied. An array with `lines` is JSONL. */
  readonly file: string
  readonly lines: boolean
  readonly json: unknown
  /** Path of what `read` takes, seen from the folder, where it isn't the file. */
  readonly target?: string
  readonly images?: ReadonlyArray<string>
  readonly read: (path: string) => Session
}

const jsonl = (format: string, read: Sample["read"], json: ReadonlyArray<unknown>): Sample => ({
  format,
  file: "log.jsonl",
  lines: true,
  json,
  read
})

const json = (format: string, read: Sample["read"], value: unknown): Sample => ({
  format,
  file: "log.json",
  lines: false,
  json: value,
  read
})

const chatCall = { id: "c1", type: "function", function: { name: "run", arguments: '{"a":1}' } }

export const SAMPLES: ReadonlyArray<Sample> = [
  jsonl("Pi", Pi.read, [
    { type: "session", id: "s", timestamp: at },
    { type: "message", timestamp: at, message: { role: "user", content: "hi", timestamp: 1 } },
    {
      type: "message",
      timestamp: at,
      message: {
        role: "assistant",
        content: [{ type: "toolCall", id: "c1", name: "run", arguments: {} }],
        usage: { input: 1, cacheRead: 2, cacheWrite: 3, output: 4 },
        model: "m",
        stopReason: "toolUse",
        timestamp: 2
      }
    },
    {
      type: "message",
      timestamp: at,
      message: {
        role: "toolResult",
        toolCallId: "c1",
        toolName: "run",
        content: [],
        isError: false,
        timestamp: 3
      }
    }
  ]),
  jsonl("ClaudeCode", ClaudeCode.read, [
    { type: "user", timestamp: at, message: { role: "user", content: "hi" } },
    { type: "attachment", timestamp: at, attachment: { type: "skill_listing", content: "skills" } },
    {
      type: "assistant",
      timestamp: at,
      message: {
        id: "m1",
        model: "m",
        content: [{ type: "tool_use", id: "c1", name: "run", input: {} }],
        stop_reason: "tool_use",
        usage: {
          input_tokens: 1,
          output_tokens: 2,
          cache_read_input_tokens: 3,
          cache_creation_input_tokens: 4
        }
      }
    },
    {
      type: "user",
      timestamp: later,
      message: {
        role: "user",
        content: [
          {
            type: "tool_result",
            tool_use_id: "c1",
            content: [
              { type: "image", source: { type: "base64", media_type: "image/png", data: PNG } }
            ]
          }
        ]
      }
    }
  ]),
  jsonl("Codex", Codex.read, [
    { type: "session_meta", timestamp: at, payload: { base_instructions: { text: "be good" } } },
    { type: "turn_context", timestamp: at, payload: { model: "m" } },
    {
      type: "response_item",
      timestamp: at,
      payload: { type: "message", role: "user", content: [{ type: "input_text", text: "hi" }] }
    },
    {
      type: "response_item",
      timestamp: at,
      payload: {
        type: "reasoning",
        summary: [{ type: "summary_text", text: "hm" }],
        encrypted_content: "x"
      }
    },
    {
      type: "response_item",
      timestamp: at,
      payload: { type: "function_call", name: "run", arguments: "{}", call_id: "c1" }
    },
    {
      type: "event_msg",
      timestamp: at,
      payload: {
        type: "token_count",
        info: { last_token_usage: { input_tokens: 10, cached_input_tokens: 4, output_tokens: 2 } }
      }
    },
    {
      type: "response_item",
      timestamp: later,
      payload: { type: "function_call_output", call_id: "c1", output: "done" }
    }
  ]),
  jsonl("OpenHands", OpenHands.read, [
    {
      instance_id: "task",
      metrics: { token_usages: [{ response_id: "r1", prompt_tokens: 10, completion_tokens: 2 }] },
      history: [
        {
          timestamp: at,
          source: "agent",
          action: "system",
          args: { content: "be good", tools: [] }
        },
        { timestamp: at, source: "user", action: "message", args: { content: "hi" } },
        {
          timestamp: at,
          source: "agent",
          action: "run",
          tool_call_metadata: {
            tool_call_id: "c1",
            model_response: {
              id: "r1",
              model: "m",
              choices: [{ message: { content: "so", tool_calls: [chatCall] } }]
            }
          }
        },
        {
          timestamp: later,
          source: "agent",
          observation: "run",
          content: "done",
          extras: { metadata: { prefix: "<", suffix: ">" } },
          tool_call_metadata: { tool_call_id: "c1" }
        }
      ]
    }
  ]),
  {
    format: "OpenHandsSdk",
    file: "calls/litellm_1.json",
    target: "calls",
    lines: false,
    json: {
      messages: [
        { role: "system", content: [{ type: "text", text: "be good" }] },
        { role: "user", content: [{ type: "image_url", image_url: { url: uri } }] }
      ],
      tools: [],
      timestamp: 10,
      latency_sec: 1,
      response: {
        model: "m",
        choices: [{ message: { role: "assistant", content: "hello", tool_calls: [chatCall] } }],
        usage: {
          prompt_tokens: 10,
          completion_tokens: 2,
          prompt_tokens_details: { cached_tokens: 4 }
        }
      }
    },
    read: OpenHandsSdk.read
  },
  json("SweAgent", SweAgent.read, {
    history: [
      { role: "system", content: "be good" },
      { role: "user", content: "hi" },
      { role: "assistant", content: "so", tool_calls: [chatCall] },
      { role: "tool", content: "done", tool_call_ids: ["c1"] }
    ]
  }),
  json("Inspect", Inspect.read, {
    samples: [
      {
        attachments: { a1: "hi" },
        messages: [
          { id: "u", role: "user", content: "attachment://a1" },
          {
            id: "a",
            role: "assistant",
            content: "",
            tool_calls: [{ id: "c1", function: "run", arguments: {} }]
          },
          { id: "t", role: "tool", content: "done", tool_call_id: "c1" }
        ],
        events: [
          {
            event: "model",
            model: "m",
            timestamp: at,
            tools: [{ name: "run" }],
            output: {
              choices: [{ message: { id: "a" } }],
              usage: {
                input_tokens: 10,
                output_tokens: 2,
                total_tokens: 12,
                input_tokens_cache_read: 4
              }
            }
          }
        ]
      }
    ]
  }),
  json("Cline", Cline.read, {
    system_prompt: "be good",
    messages: [
      {
        role: "user",
        ts: 1,
        content: [
          { type: "text", text: "hi" },
          { type: "file", path: "a.ts", content: "a" }
        ]
      },
      {
        role: "assistant",
        ts: 2,
        modelInfo: { id: "m" },
        metrics: { inputTokens: 10, outputTokens: 2, cacheReadTokens: 4, cacheWriteTokens: 1 },
        content: [{ type: "tool_use", id: "c1", name: "run", input: {} }]
      },
      {
        role: "user",
        ts: 3,
        content: [
          { type: "tool_result", tool_use_id: "c1", content: [{ result: "no", success: false }] }
        ]
      }
    ]
  }),
  json("GeminiCli", GeminiCli.read, {
    messages: [
      { type: "user", timestamp: at, content: "hi" },
      {
        type: "gemini",
        timestamp: at,
        model: "m",
        content: "",
        thoughts: [],
        tokens: { input: 10, cached: 4, output: 2, thoughts: 3 },
        toolCalls: [
          {
            id: "c1",
            name: "run",
            args: {},
            status: "error",
            timestamp: later,
            result: [{ functionResponse: { response: { output: "no" } } }]
          }
        ]
      }
    ]
  }),
  json("UiTars", UiTars.read, [
    {
      type: "user_message",
      timestamp: 1,
      content: [{ type: "image_url", image_url: { url: uri } }]
    },
    { type: "assistant_message", timestamp: 2, content: "so", toolCalls: [chatCall] },
    { type: "tool_call", timestamp: 3, name: "run", tool: { name: "run" } },
    { type: "tool_result", timestamp: 4, toolCallId: "c1", content: { status: "success" } }
  ]),
  json("Midscene", Midscene.read, {
    images: { i1: uri },
    dump: {
      executions: [
        {
          name: "Action - go",
          tasks: [
            {
              type: "Planning",
              subType: "Plan",
              status: "finished",
              param: { userInstruction: "go" },
              timing: { start: 1, end: 2 },
              uiContext: { screenshot: { id: "i1" } },
              usage: { prompt_tokens: 10, completion_tokens: 2, cached_input: 4, model_name: "m" },
              output: { log: "tap it", actions: [{ type: "Tap" }], yamlFlow: [] },
              recorder: [{ screenshot: { id: "i1" } }]
            },
            {
              type: "Action Space",
              subType: "Tap",
              status: "finished",
              param: {},
              timing: { start: 3, end: 4 },
              recorder: [{ screenshot: { id: "i1" } }]
            }
          ]
        }
      ]
    }
  }),
  {
    format: "ScreenAgent",
    file: "run/2023-12-20_11-19-39-756126_translate.json",
    target: "run",
    lines: false,
    json: {
      task_prompt_en: "go",
      LLM_response_editer_en: "so",
      saved_image_name: "a.png",
      actions: [{ action_type: "MouseAction" }]
    },
    images: ["run/images/a.png"],
    read: ScreenAgent.read
  },
  {
    ...jsonl("OpenCua", OpenCua.read, [
      {
        instruction: "go",
        traj: [
          { image: "0.png", value: { code: "click()" } },
          { image: "1.png", value: { code: "terminate()" } }
        ]
      }
    ]),
    images: ["0.png"]
  },
  {
    format: "WebVoyager",
    file: "run/interact_messages.json",
    target: "run",
    lines: false,
    json: [
      { role: "system", content: "be good" },
      { role: "user", content: "go" },
      { role: "assistant", content: "Thought: so\n\nAction: Click [1]" },
      {
        role: "user",
        content: [
          { type: "text", text: "[1]: link" },
          { type: "image_url", image_url: {} }
        ]
      },
      { role: "assistant", content: "Thought: done\n\nAction: ANSWER; 42" }
    ],
    images: ["run/screenshot1.png", "run/screenshot2.png"],
    read: WebVoyager.read
  }
]

/** Runs `f` with a new folder, which is gone afterwards. */
export const inFolder = <A>(f: (folder: string) => A): A => {
  const folder = mkdtempSync(join(tmpdir(), "varve-readers-"))
  try {
    return f(folder)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const put = (file: string, data: string | Buffer): string => {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, data)
  return file
}

/** Writes text as the log of a sample, its images beside it, and gives what `read` takes. */
export const writeText = (folder: string, sample: Sample, text: string): string => {
  for (const image of sample.images ?? []) put(join(folder, image), Buffer.from(PNG, "base64"))
  const file = put(join(folder, sample.file), text)
  return sample.target === undefined ? file : join(folder, sample.target)
}

/** Writes JSON as the log of a sample. */
export const write = (folder: string, sample: Sample, value: unknown = sample.json): string =>
  writeText(
    folder,
    sample,
    sample.lines && Array.isArray(value)
      ? value.map((line) => JSON.stringify(line)).join("\n")
      : JSON.stringify(value)
  )

/** The sample of a format. */
export const sample = (format: string): Sample => {
  const found = SAMPLES.find((one) => one.format === format)
  if (found === undefined) throw new Error(`no sample of ${format}`)
  return found
}

/** Reads lines of a JSONL format. */
export const readLines = (format: string, lines: ReadonlyArray<unknown>): Session =>
  inFolder((folder) => sample(format).read(write(folder, sample(format), lines)))

/** Reads a JSON of a format. */
export const readJson = readLines as (format: string, value: unknown) => Session
