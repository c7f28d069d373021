/** Three agents in TypeScript; `agents.json` says the same. */
import { defineAgents } from "@varve/config"
import { Commit, conversationSummary, hardLimit, stepMemory } from "@varve/core"
import { profile } from "@varve/profiles"
import { extractiveSummarizer } from "@varve/strategy-extractive-summary"
import { screenshots } from "@varve/strategy-screenshot-prune"
import { maskToolResults } from "@varve/strategy-tool-result-mask"

export const agents = defineAgents(
  {
    browser: {
      pipeline: ({ summarizer }) => [
        screenshots({ keep: 2 }),
        stepMemory({ summarizer }),
        hardLimit()
      ],
      budget: { images: 8 },
      subagents: {
        reader: {
          pipeline: ({ summarizer }) => [
            conversationSummary({ summarizer, soft: 0.2 }),
            hardLimit()
          ],
          profile: "anthropic/claude-haiku-4.5",
          budget: { tokens: 6_000 }
        }
      }
    },
    coder: {
      pipeline: () => [maskToolResults({ keep: 2 }), hardLimit()],
      profile: "openai/gpt-5.5"
    }
  },
  {
    defaults: {
      profile: "anthropic/claude-opus-5.5",
      summarizer: () => extractiveSummarizer(),
      budget: { tokens: 30_000 },
      commit: () => Commit.batched({ size: 4 })
    },
    profiles: profile
  }
)
