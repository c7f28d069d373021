// Records the session anew: `node record/record.ts`. Needs a Chromium; nothing else runs it.
import { join } from "node:path"
import { Agent } from "@mariozechner/pi-agent-core"
import {
  fauxAssistantMessage,
  fauxText,
  fauxThinking,
  fauxToolCall,
  registerFauxProvider
} from "@mariozechner/pi-ai"
import { readSession } from "../src/Session.ts"
import { host, openBrowser } from "./Browser.ts"
import { writeRecording } from "./Recording.ts"
import { type Step, systemPrompt, turns } from "./Script.ts"
import { startSite } from "./SiteServer.ts"
import { browserTools } from "./Tools.ts"

const folder = join(import.meta.dirname, "../recording")
const longestMs = 300_000

let call = 0
const answer = ({ think, say, calls }: Step) =>
  fauxAssistantMessage(
    [
      ...(think === undefined ? [] : [fauxThinking(think)]),
      ...(say === undefined ? [] : [fauxText(say)]),
      ...calls.map(([tool, goal, args]) =>
        fauxToolCall(tool, { goal, ...args }, { id: `call_${String(++call).padStart(3, "0")}` })
      )
    ],
    { stopReason: calls.length > 0 ? "toolUse" : "stop" }
  )

const site = await startSite()
const opened = await openBrowser(site.port).catch(async (error: unknown) => {
  await site.close()
  console.error(error instanceof Error ? error.message : error)
  process.exit(1)
})
const { browser, page } = opened
const model = registerFauxProvider({ api: "faux", provider: "faux" })
const { tools, afterToolCall, screenshot } = browserTools(page)
const agent = new Agent({
  initialState: { systemPrompt, model: model.getModel(), thinkingLevel: "low", tools },
  afterToolCall
})
const steps = turns.flatMap((turn) => turn.steps)
const mustFail = new Set<string>()
let done = 0
agent.subscribe((event) => {
  if (event.type === "message_end" && event.message.role === "assistant") {
    const calls = event.message.content.filter((block) => block.type === "toolCall")
    if (calls.length === 0) return
    if (steps[done]?.fails === true) mustFail.add(calls[0]?.id ?? "")
    done++
    const what = calls.map((block) => `${block.name}: ${block.arguments["goal"]}`).join("; ")
    console.log(`${String(done).padStart(3)}/${steps.length}  ${what}`)
  }
  if (event.type === "tool_execution_end" && event.isError !== mustFail.has(event.toolCallId)) {
    const said = event.result.content.find((block: { type: string }) => block.type === "text")
    throw new Error(`Step ${done} went otherwise than the script says: ${said?.text}`)
  }
})

// A hanging page must not keep the command open.
const guard = setTimeout(() => void browser.close(), longestMs)
try {
  await page.goto(`http://${host}/`)
  for (const turn of turns) {
    const images = turn.attach === true ? [await screenshot()] : []
    model.setResponses([...turn.steps.map(answer), answer({ ...turn.answer, calls: [] })])
    await agent.prompt(turn.user, images)
    if (agent.state.errorMessage !== undefined) throw new Error(agent.state.errorMessage)
    if (model.getPendingResponseCount() > 0)
      throw new Error("The loop ended before the script did.")
  }
  const totals = writeRecording(folder, agent.state.messages, {
    provider: "faux",
    modelId: model.getModel().id,
    system: systemPrompt,
    tools: tools.map(({ name, description, parameters }) => ({ name, description, parameters }))
  })
  const { messages } = readSession(join(folder, "session.jsonl"))
  if (messages.length !== agent.state.messages.length)
    throw new Error("The recording reads back otherwise than it was written.")
  console.log(
    `Recorded ${steps.length} steps: ${messages.length} messages, ${totals.requests} requests, ${totals.calls} tool calls ` +
      `(${totals.batches} batches, ${totals.errors} errors), ${totals.images} images (${totals.files} distinct), ${totals.bytes} bytes.`
  )
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
} finally {
  clearTimeout(guard)
  model.unregister()
  await browser.close()
  await site.close()
}
