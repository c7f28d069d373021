import type { Message } from "@varve/core/Message"
import { aiSdk, anthropicMessages, langChain, openAiChat, openAiResponses } from "@varve/codecs"
import type { Codec } from "@varve/codecs"
import { langChainFaults, langChainMessages } from "./langChain.ts"
import type { Steps } from "./make.ts"
import * as make from "./make.ts"
import * as rules from "./rules.ts"

type Json = Record<string, any>

/** One host's shape for a test that all codecs have to pass. */
export interface Host {
  readonly name: string
  readonly codec: Codec<any>
  readonly make: (history: ReadonlyArray<Message>, seed: number) => Steps
  readonly startsWithUser: boolean
  readonly faults: (
    request: ReadonlyArray<Json>,
    before: ReadonlyArray<Json>
  ) => ReadonlyArray<string>
}

export const hosts: ReadonlyArray<Host> = [
  {
    name: "anthropic",
    codec: anthropicMessages,
    startsWithUser: true,
    make: make.anthropic,
    faults: rules.anthropicFaults
  },
  {
    name: "chat",
    codec: openAiChat,
    startsWithUser: false,
    make: make.chat,
    faults: rules.chatFaults
  },
  {
    name: "responses",
    codec: openAiResponses,
    startsWithUser: false,
    make: make.responses,
    faults: rules.responsesFaults
  },
  { name: "ai-sdk", codec: aiSdk, startsWithUser: false, make: make.sdk, faults: rules.sdkFaults },
  {
    name: "langchain",
    codec: langChain,
    startsWithUser: true,
    make: langChainMessages,
    faults: langChainFaults
  }
]
