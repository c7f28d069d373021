import { conversationSummary, createMemory, hardLimit, stepMemory } from "@varve/core"
import { extractiveSummarizer } from "@varve/strategy-extractive-summary"
import { modelSummarizer } from "@varve/strategy-llm-summary"
import * as pi from "@mariozechner/pi-ai"
import { ownWords } from "./src/summarizers.ts"
import { run, show } from "./zz_nw_sc.ts"
import { writeFileSync } from "node:fs"
const which = process.argv[2]!
const prompts:string[]=[]
const faux = pi.registerFauxProvider({ provider: "summaries" })
let k=0
const resp = (context:any)=>{ prompts.push(context.systemPrompt+"\n=====\n"+JSON.stringify(context.messages,null,1).replaceAll("\\n","\n")); k++; return pi.fauxAssistantMessage(`Summary ${k}: The agent is setting up the staging proxy. It read several files, set the port, and ran tests. The migration was tried. Work goes on in branch staging-proxy.`)}
faux.setResponses(Array.from({length:200},()=>resp as any))
const s = which==="ext"?extractiveSummarizer():which==="model"?modelSummarizer({pi,model:faux.getModel()}):ownWords
const events:any[]=[]
const memory = createMemory({pipeline:[conversationSummary({summarizer:s}),stepMemory({summarizer:s}),hardLimit()],budget:{tokens:20000},onEvent:e=>{ if(e.type!=="prepared") events.push(e)}})
const t0=Date.now()
await run(memory,200,(n,r)=>{
  const notes = r.report.strategies.flatMap((x:any)=>[x.error?`${x.name} ERR ${x.error}`:"", ...(x.refused??[]).map((y:any)=>`${x.name} refused ${JSON.stringify(y)}`)]).filter(Boolean)
  console.log(n,r.report.before.tokens,">",r.report.after.tokens,"msgs",r.report.after.messages,JSON.stringify(r.report.commit), "guarded",r.report.guarded, r.report.strategies.map((x:any)=>x.name+":"+x.proposed+"/"+(x.notes??x.reasons??"")).join(" "),...notes)
  if([20,60,120,160,200].includes(n)){ writeFileSync(`/tmp/nw/a_${which}_${n}.txt`,show(r.messages)); writeFileSync(`/tmp/nw/a_${which}_${n}_compose.txt`,memory.compose()); }
  if(n===200) writeFileSync(`/tmp/nw/a_${which}_report.json`,JSON.stringify(r.report,null,1))
},{pause: which==="model"?2:undefined as any})
console.log("ms",Date.now()-t0,"prompts",prompts.length,"events",JSON.stringify(events).slice(0,2000))
writeFileSync(`/tmp/nw/a_${which}_prompts.txt`,prompts.join("\n\n########\n\n"))
writeFileSync(`/tmp/nw/a_${which}_explain.json`,JSON.stringify(memory.explain(),null,1))
await memory.close()
