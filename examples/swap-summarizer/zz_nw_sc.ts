import type { Message, Memory } from "@varve/core"
type Any = any
const files = ["src/server.ts","src/config/proxy.ts","src/routes/orders.ts","src/routes/invoices.ts","deploy/nginx.conf","deploy/staging.yaml","test/orders.test.ts","test/proxy.test.ts","package.json","docs/runbook.md","src/db/migrate.ts","src/db/pool.ts"]
const code = (f:string,n:number)=>Array.from({length:18},(_,i)=>`${i+1}\t${["import { createServer } from \"node:http\"","const retry = await backoff(attempt, { base: 200, cap: 5000 })","export const handler = async (req, res) => {","  if (!req.headers.authorization) return res.status(401).end()","  const rows = await pool.query(sql, [req.params.id])","  log.info({ id: req.params.id, ms: Date.now() - t0 }, \"served\")","}"][(i+n)%7]} // ${f}:${n}`).join("\n")
export interface Turn { user?: string; say?: string; tool?: { name:string; args:Any; result:string; error?:boolean; goal:string; outcome: "success"|"failed"; detail?: string } }
const users: Record<number,string> = {
  4: "One rule before you go on: never delete anything on the staging host, and never push to main.",
  15: "Use port 8080 for the proxy.",
  31: "no, use port 8443 instead",
  48: "Also please keep the old /v1 routes working. The customer Halden still uses them.",
  72: "Actually, let's go with Postgres 16, not 15.",
  95: "Wait: don't touch deploy/nginx.conf any more, ops owns that file now.",
  110: "Forget Postgres 16, ops only supports 15. Go back to 15.",
  140: "The ticket is OPS-4471. Mention it in each commit message.",
  163: "no, not 8443 either. ops gave us 9443, final.",
  180: "You may touch deploy/nginx.conf again, ops agreed.",
}
export const turn = (n:number):Turn => {
  const f = files[(n*7)%files.length]!
  const user = users[n]
  if (n===22) return {user, say:"Running the migration.", tool:{name:"bash",args:{command:"npm run migrate -- --env staging"},result:"> migrate\nError: connect ECONNREFUSED 10.0.3.17:5432\n    at TCPConnectWrap.afterConnect\nnpm ERR! code ELIFECYCLE",error:true,goal:"run the migration on staging",outcome:"failed",detail:"ECONNREFUSED 10.0.3.17:5432"}}
  if (n===60||n===59) return {user, say:"The migration again, with the tunnel up.", tool:{name:"bash",args:{command:"npm run migrate -- --env staging --host tunnel-7.internal"},result: n===59? "Error: relation \"orders_v2\" already exists (42P07)":"migrated 14 tables in 3.2 s\nbuild id 7f3a91c2e0", error:n===59,goal:"run the migration on staging",outcome:n===59?"failed":"success"}}
  if (n===118) return {user, say:"Full test run.", tool:{name:"bash",args:{command:"npm test"},result:"FAIL test/proxy.test.ts > keeps /v1 alive\n  AssertionError: expected 404 to be 200\n\nTests 1 failed | 211 passed",error:true,goal:"run all tests",outcome:"failed",detail:"test/proxy.test.ts: expected 404 to be 200"}}
  if (n%17===0) return {user, say:`The check of ${f} has to pass first.`, tool:{name:"bash",args:{command:`npx tsc --noEmit ${f}`},result:`${f}(${n},7): error TS2345: Argument of type 'string' is not assignable to parameter of type 'Port'.\nFound 1 error.`,error:true,goal:`type-check ${f}`,outcome:"failed",detail:"TS2345"}}
  if (n%5===2) return {user, say: n%3===0?`I decided to keep the retry logic in ${f} as it is, because the pool already backs off.`:undefined, tool:{name:"edit",args:{path:f,oldText:"port: 8080",newText:`port: ${n>163?9443:n>31?8443:8080}`},result:`Edited ${f}: 1 replacement.`,goal:`set the port in ${f}`,outcome:"success"}}
  if (n%5===4) return {user, say:"Tests of this part.", tool:{name:"bash",args:{command:`npx vitest run ${f}`},result:`RUN v3.2.4\n ✓ ${f} (${n%11+3} tests) ${n*3%400} ms\nTest Files 1 passed (1)\nTests ${n%11+3} passed`,goal:`run the tests of ${f}`,outcome:"success"}}
  return {user, say: n%4===0?`Let me read ${f} to see how the listener is made.`:undefined, tool:{name:"read",args:{path:f},result:code(f,n),goal:`read ${f}`,outcome:"success"}}
}
export const TASK = "Set up the new staging proxy for the orders service: terminate TLS, route /v1 and /v2, migrate the database, all tests green, and write docs/runbook.md. Work only in the branch staging-proxy."
export const run = async (memory: Memory|Any, turns:number, on:(n:number, r:Any, history:Message[])=>void|Promise<void>, opts:{pause?:number, mut?:(t:Turn,n:number)=>Turn}={})=>{
  const history: Message[] = [{role:"user",content:TASK}]
  for (let n=1;n<=turns;n++){
    let t = turn(n); if(opts.mut) t=opts.mut(t,n)
    if (t.user) history.push({role:"user",content:t.user})
    const r = await memory.prepare(history,{system:"You are a careful DevOps engineer."})
    await on(n,r,history)
    if (t.tool){
      const id=`call_${n}`
      history.push({role:"assistant",content:[...(t.say?[{type:"text",text:t.say} as Any]:[]),{type:"toolCall",id,name:t.tool.name,arguments:t.tool.args}]})
      memory.steps.begin({id:`s${n}`,goal:t.tool.goal,callId:id,tool:t.tool.name})
      memory.steps.finish({id:`s${n}`,callId:id,outcome:t.tool.outcome,...(t.tool.detail?{detail:t.tool.detail}:{})})
      history.push({role:"toolResult",toolCallId:id,toolName:t.tool.name,content:[{type:"text",text:t.tool.result}],isError:t.tool.error===true} as Any)
    } else history.push({role:"assistant",content:t.say??"ok"})
    if (opts.pause!==undefined) await new Promise(r=>setTimeout(r,opts.pause))
  }
  return history
}
export const show = (ms:ReadonlyArray<Message>|Any)=>ms.map((m:Any,i:number)=>{
  const c = typeof m.content==="string"?m.content:m.content.map((b:Any)=>b.type==="text"?b.text:b.type==="toolCall"?`CALL ${b.name} ${JSON.stringify(b.arguments)}`:`<${b.type}>`).join("\n")
  return `--[${i}] ${m.role}${m.toolName?" "+m.toolName:""}${m.isError?" ERROR":""}: ${c.length>15000?c.slice(0,15000)+"…":m.role==="toolResult"?c.slice(0,160):c}`
}).join("\n")
