// Size budgets: minified and gzipped, as a bundler for Node would make them.
const node = (config) => ({ ...config, platform: "node" })

const budget = (name, folder, limit, options) => ({
  name,
  path: `packages/${folder}/dist/index.js`,
  limit,
  gzip: true,
  modifyRolldownConfig: node,
  ...options
})

const alone = (folder, limit) =>
  budget(`@varve/${folder}, by itself`, folder, limit, {
    import: "*",
    ignore: [
      "@varve/codecs",
      "@varve/core",
      "@varve/strategy-extractive-summary",
      "@varve/strategy-screenshot-prune",
      "@varve/strategy-tool-result-mask",
      "effect",
      "tiktoken",
      "sharp",
      "@mariozechner/pi-ai",
      "fast-check"
    ]
  })

export default [
  budget("createMemory, with the parts of Effect that it uses", "core", "75 kB", {
    import: "{ createMemory }"
  }),
  budget("createMemory, without Effect", "core", "45 kB", {
    import: "{ createMemory }",
    ignore: ["effect"]
  }),
  alone("adapter-ai-sdk", "5 kB"),
  alone("adapter-langchain", "3 kB"),
  alone("adapter-pi", "4 kB"),
  alone("codecs", "14 kB"),
  alone("config", "6 kB"),
  alone("tokenizer", "12 kB"),
  alone("profiles", "16 kB"),
  alone("testkit", "20 kB"),
  alone("strategy-extractive-summary", "13 kB"),
  alone("simulator", "10 kB"),
  alone("preset-coding", "1 kB"),
  alone("preset-gui", "2 kB"),
  alone("strategy-tool-result-mask", "2 kB"),
  alone("strategy-llm-summary", "10 kB"),
  alone("strategy-screenshot-prune", "8 kB")
]
