import type {
  AfterToolCallContext,
  AfterToolCallResult,
  AgentTool
} from "@mariozechner/pi-agent-core"
import {
  type ImageContent,
  type Static,
  type TextContent,
  type TSchema,
  Type
} from "@mariozechner/pi-ai"
import type { Locator, Page } from "playwright-core"
import { host } from "./Browser.ts"
import { readUiTree } from "./UiTree.ts"

type Role = Parameters<Page["getByRole"]>[0]

const goal = Type.String({ description: "What this step is for, in a few words" })
const role = Type.String({
  description: "Role of the element: button, link, checkbox, article, ..."
})
const name = Type.String({ description: "Its name, exactly as the page shows it" })
const fieldLabel = Type.String({ description: "Label of the field" })

export interface Tools {
  readonly tools: Array<AgentTool>
  /** Gives a failed call the screenshot that a call that worked would have. */
  readonly afterToolCall: (call: AfterToolCallContext) => Promise<AfterToolCallResult | undefined>
  readonly screenshot: () => Promise<ImageContent>
}

/**
 * pi tools that act on `page`. Each says in text what happened and where the browser is now, and
 * shows it: a PNG of 1280 x 720 px. Calls of one batch act one after the other, in their order.
 */
export const browserTools = (page: Page): Tools => {
  let open = 0
  page.on("request", () => open++)
  page.on("requestfinished", () => open--)
  page.on("requestfailed", () => open--)

  /** Waits until the page has asked for nothing for 120 ms. */
  const settle = async () => {
    for (let quiet = 0; quiet < 4; quiet++) {
      await new Promise((resolve) => setTimeout(resolve, 30))
      if (open > 0) quiet = -1
    }
    await page.waitForLoadState("load")
  }
  const screenshot = async (): Promise<ImageContent> => {
    const png = await page.screenshot({ type: "png", animations: "disabled", caret: "hide" })
    return { type: "image", data: png.toString("base64"), mimeType: "image/png" }
  }
  const whereabouts = async () => `URL: ${page.url()}\nTitle: ${await page.title()}`

  let last: Promise<unknown> = Promise.resolve()
  const inTurn = <A>(act: () => Promise<A>): Promise<A> => {
    const mine = last.then(act, act)
    last = mine
    return mine
  }

  const tool = <T extends TSchema>(
    label: string,
    description: string,
    parameters: T,
    act: (args: Static<T>) => Promise<string | { text: string }>
  ): AgentTool => ({
    name: label,
    label,
    description,
    parameters,
    execute: (_id, args) =>
      inTurn(async () => {
        const said = await act(args as Static<T>)
        await settle()
        const content: Array<TextContent | ImageContent> =
          typeof said === "string"
            ? [{ type: "text", text: `${said}\n${await whereabouts()}` }, await screenshot()]
            : [{ type: "text", text: said.text }]
        return { content, details: {} }
      })
  })

  const element = async (kind: string, called: string): Promise<Locator> => {
    const found = page.getByRole(kind as Role, { name: called, exact: true })
    const count = await found.count()
    if (count > 1) throw new Error(`${count} elements are called ${kind} "${called}".`)
    if (count === 1) return found
    const others = await page.getByRole(kind as Role).allInnerTexts()
    const shown = others.map((text) => JSON.stringify(text.trim())).slice(0, 16)
    throw new Error(
      `There is no ${kind} "${called}" on this page. It has: ${shown.join(", ") || "none"}.`
    )
  }
  const control = async (label: string): Promise<Locator> => {
    const found = page.getByLabel(label, { exact: true })
    if ((await found.count()) === 1) return found
    const labels = await page.locator("label.field > span").allInnerTexts()
    throw new Error(
      `There is no field "${label}" on this page. It has: ${labels.join(", ") || "none"}.`
    )
  }

  const tools = [
    tool(
      "screenshot",
      "Shows the browser as it is.",
      Type.Object({ goal }),
      async () => "Screenshot taken."
    ),
    tool(
      "read_page",
      "Returns the page as a tree of text, with roles, names, states and places. No image.",
      Type.Object({ goal }),
      async () => ({ text: await readUiTree(page) })
    ),
    tool("click", "Clicks an element.", Type.Object({ goal, role, name }), async (args) => {
      const target = await element(args.role, args.name)
      if (await target.isDisabled()) throw new Error(`The ${args.role} "${args.name}" is disabled.`)
      await target.click()
      return `Clicked ${args.role} "${args.name}".`
    }),
    tool(
      "fill",
      "Replaces the text of a field.",
      Type.Object({ goal, field: fieldLabel, text: Type.String() }),
      async ({ field, text }) => {
        await (await control(field)).fill(text)
        return `Filled field "${field}".`
      }
    ),
    tool(
      "type",
      "Types text with the keyboard, where the caret is.",
      Type.Object({ goal, text: Type.String() }),
      async ({ text }) => {
        await page.keyboard.type(text)
        return `Typed ${text.length} character${text.length === 1 ? "" : "s"}.`
      }
    ),
    tool(
      "press",
      "Presses a key or a combination, such as Enter or Control+B.",
      Type.Object({ goal, key: Type.String() }),
      async ({ key }) => {
        await page.keyboard.press(key)
        return `Pressed ${key}.`
      }
    ),
    tool(
      "select",
      "Chooses an option of a drop-down field.",
      Type.Object({ goal, field: fieldLabel, option: Type.String() }),
      async ({ field, option }) => {
        const target = await control(field)
        const options = await target.locator("option").allInnerTexts()
        if (!options.includes(option))
          throw new Error(
            `Field "${field}" has no option "${option}". It has: ${options.join(", ")}.`
          )
        await target.selectOption({ label: option })
        return `Chose "${option}" in field "${field}".`
      }
    ),
    tool(
      "scroll",
      "Scrolls the page by some px, down if positive.",
      Type.Object({ goal, by: Type.Number({ description: "px, such as 400 or -400" }) }),
      async ({ by }) => {
        await page.evaluate((px) => window.scrollBy({ top: px, behavior: "instant" }), by)
        return `Scrolled by ${by} px.`
      }
    ),
    tool(
      "navigate",
      "Opens an address of the back office.",
      Type.Object({ goal, path: Type.String({ description: "Path, such as /orders.html" }) }),
      async ({ path }) => {
        const answer = await page.goto(`http://${host}${path}`)
        const status = answer?.status() ?? 0
        if (status >= 400) throw new Error(`${path} answered ${status}.`)
        return `Opened ${path}.`
      }
    ),
    tool(
      "drag",
      "Drags an element onto another one.",
      Type.Object({ goal, role, name, toRole: role, toName: name }),
      async (args) => {
        await (await element(args.role, args.name)).dragTo(await element(args.toRole, args.toName))
        return `Dragged ${args.role} "${args.name}" to ${args.toRole} "${args.toName}".`
      }
    ),
    tool(
      "wait",
      "Waits, then shows the browser.",
      Type.Object({ goal, seconds: Type.Number({ minimum: 1, maximum: 5 }) }),
      async ({ seconds }) => {
        await page.waitForTimeout(seconds * 1000)
        return `Waited ${seconds} s.`
      }
    )
  ]
  return {
    tools,
    screenshot,
    afterToolCall: ({ result, isError }) =>
      isError
        ? inTurn(async () => ({
            content: [
              ...result.content,
              { type: "text", text: await whereabouts() },
              await screenshot()
            ]
          }))
        : Promise.resolve(undefined)
  }
}
