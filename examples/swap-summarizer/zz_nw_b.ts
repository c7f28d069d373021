import { conversationSummary, createMemory, hardLimit, stepMemory } from "@varve/core"
import { ownWords } from "./src/summarizers.ts"
import { run, show } from "./zz_nw_sc.ts"
import { extractiveSummarizer } from "@varve/strategy-extractive-summary"
for (const [name,p] of Object.entries({
 "both own":[conversationSummary({summarizer:ownWords}),stepMemory({summarizer:ownWords}),hardLimit()],
 "step none":[conversationSummary({summarizer:ownWords}),stepMemory(),hardLimit()],
 "step own, conv ext":[conversationSummary({summarizer:extractiveSummarizer()}),stepMemory({summarizer:ownWords}),hardLimit()],
 "conv none, step none":[conversationSummary(),stepMemory(),hardLimit()],
 "step first":[stepMemory(),conversationSummary(),hardLimit()],
})) {
const memory = createMemory({pipeline:p as any,budget:{tokens:20000}})
let last=""
await run(memory,70,(n,r)=>{
  const memo=/up to step \d+/.exec(show(r.messages.slice(0,3)))?.[0]
  if(memo!==last||r.report.commit.committed) console.log(name,n,memo,JSON.stringify(r.report.commit),r.report.strategies.map((x:any)=>JSON.stringify(x.notes)+JSON.stringify(x.refused)).join(" ").slice(0,500))
  last=memo!
})
await memory.close()
}
