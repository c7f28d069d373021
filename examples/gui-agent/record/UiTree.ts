import type { Page } from "playwright-core"

/**
 * The page as a tree of text, one element a line: role, name, state and place in px. It holds what
 * a reader of the screen could use, also what is scrolled out of sight.
 */
export const readUiTree = (page: Page): Promise<string> =>
  page.evaluate(() => {
    const roles: Record<string, string> = {
      A: "link",
      ADDRESS: "group",
      ARTICLE: "article",
      BUTTON: "button",
      DD: "definition",
      DIALOG: "dialog",
      DT: "term",
      FORM: "form",
      H1: "heading",
      H2: "heading",
      HEADER: "banner",
      INPUT: "textbox",
      LI: "listitem",
      MAIN: "main",
      NAV: "navigation",
      OL: "list",
      SECTION: "region",
      SELECT: "combobox",
      TABLE: "table",
      TBODY: "rowgroup",
      TD: "cell",
      TH: "columnheader",
      THEAD: "rowgroup",
      TR: "row",
      UL: "list"
    }
    const lines: Array<string> = []
    const squeeze = (text: string) => text.replaceAll(/\s+/g, " ").trim()
    const place = (element: Element) => {
      const { x, y, width, height } = element.getBoundingClientRect()
      return `@${[x, y, width, height].map((side) => Math.round(side)).join(",")}`
    }
    const role = (element: Element) => {
      const own = element.getAttribute("role")
      if (own !== null) return own
      if (element instanceof HTMLInputElement && /^(checkbox|radio)$/.test(element.type))
        return element.type
      return roles[element.tagName]
    }
    const name = (element: Element) => {
      const label = element.getAttribute("aria-label")
      if (label !== null) return label
      if (element instanceof HTMLInputElement || element instanceof HTMLSelectElement)
        return squeeze(
          element.labels?.[0]?.querySelector("span")?.textContent ??
            element.labels?.[0]?.textContent ??
            ""
        )
      return /^(A|BUTTON|H1|H2)$/.test(element.tagName) ? squeeze(element.textContent ?? "") : ""
    }
    const state = (element: Element) => {
      const parts: Array<string> = []
      if (element instanceof HTMLInputElement && /^(checkbox|radio)$/.test(element.type))
        parts.push(element.checked ? "checked" : "not checked")
      else if (element instanceof HTMLInputElement)
        parts.push(
          `value=${JSON.stringify(element.type === "password" ? "•".repeat(element.value.length) : element.value)}`
        )
      if (element instanceof HTMLSelectElement)
        parts.push(
          `value=${JSON.stringify(element.value)}`,
          `options=${JSON.stringify([...element.options].map(({ text }) => text))}`
        )
      if (element instanceof HTMLAnchorElement) parts.push(`href=${element.getAttribute("href")}`)
      if (element.matches(":disabled")) parts.push("disabled")
      if (element.matches(":focus")) parts.push("focused")
      if (element.getAttribute("aria-invalid") === "true") parts.push("invalid")
      const current = element.getAttribute("aria-current") ?? element.getAttribute("aria-pressed")
      if (current !== null && current !== "false") parts.push("current")
      return parts
    }
    const walk = (node: Node, depth: number): void => {
      const indent = "  ".repeat(depth)
      if (node instanceof Text) {
        const text = squeeze(node.data)
        if (text !== "") lines.push(`${indent}- text ${JSON.stringify(text)}`)
        return
      }
      if (!(node instanceof Element) || /^(SCRIPT|SVG|STYLE)$/i.test(node.tagName)) return
      const kind = role(node)
      let below = depth
      let named = false
      if (kind !== undefined) {
        const label = name(node)
        named = /^(A|BUTTON|H1|H2|SELECT|INPUT)$/.test(node.tagName)
        lines.push(
          [
            `${indent}- ${kind}`,
            ...(label === "" ? [] : [JSON.stringify(label)]),
            ...state(node),
            place(node)
          ].join(" ")
        )
        below = depth + 1
      }
      if (named) return
      for (const child of node.childNodes) walk(child, below)
    }
    walk(document.body, 0)
    return `page ${JSON.stringify(document.title)} ${location.href}\nscrolled ${Math.round(scrollY)} of ${document.documentElement.scrollHeight - innerHeight} px\n${lines.join("\n")}`
  })
