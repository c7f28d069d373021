// What every page shares: the frame, the state of the session, messages and dialogs.
import { orders } from "./data.js"

/** Makes an element: `h("a", { href: "x" }, "text", child)`. Keys with `on` are listeners. */
export const h = (tag, props = {}, ...children) => {
  const element = document.createElement(tag)
  for (const [key, value] of Object.entries(props)) {
    if (value === undefined || value === false) continue
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value)
    else element.setAttribute(key, value === true ? "" : value)
  }
  element.append(
    ...children.flat(Infinity).filter((child) => child !== undefined && child !== null)
  )
  return element
}

/** State that lasts as long as the browser's tab. */
export const store = {
  get: (key, otherwise) => JSON.parse(sessionStorage.getItem(key) ?? JSON.stringify(otherwise)),
  set: (key, value) => sessionStorage.setItem(key, JSON.stringify(value))
}

/** The orders with what was changed in this session. */
export const currentOrders = () => {
  const changes = store.get("orders", {})
  return orders.map((order) => {
    const { customer, ...rest } = changes[order.id] ?? {}
    return { ...order, ...rest, customer: { ...order.customer, ...customer } }
  })
}

export const changeOrder = (id, change) => {
  const changes = store.get("orders", {})
  store.set("orders", { ...changes, [id]: { ...changes[id], ...change } })
}

const icons = {
  Dashboard: "M3 3h6v8H3zM11 3h6v5h-6zM11 10h6v7h-6zM3 13h6v4H3z",
  Orders: "M4 3h12v14l-3-2-3 2-3-2-3 2zM7 7h6M7 10h6",
  "New shipment": "M2 5h10v9H2zM12 8h4l2 3v3h-6zM5 16h2M14 16h2",
  Packing: "M3 6l7-3 7 3v8l-7 3-7-3zM3 6l7 3 7-3M10 9v8",
  Notes: "M5 3h7l3 3v11H5zM8 9h4M8 12h4",
  Settings: "M3 6h8M15 6h2M11 4v4M3 13h2M9 13h8M5 11v4"
}
const links = {
  Dashboard: "dashboard.html",
  Orders: "orders.html",
  "New shipment": "shipment.html",
  Packing: "packing.html",
  Notes: "notes.html",
  Settings: "settings.html"
}
const svg = (path, size, colour) => {
  const span = h("span")
  span.innerHTML = `<svg width="${size}" height="${size}" viewBox="0 0 20 20" fill="none" stroke="${colour}" stroke-width="1.7" stroke-linejoin="round" aria-hidden="true"><path d="${path}"/></svg>`
  return span.firstChild
}

export const mark = (colour) =>
  svg("M2 13c3-3 5-3 8 0s5 3 8 0M2 17c3-3 5-3 8 0s5 3 8 0M5 9V4h10v5", 26, colour)

/** Puts the frame around `content`. */
export const show = ({ title, under, actions = [], active = title }, ...content) => {
  document.title = `${title} · Quayside`
  document.body.replaceChildren(
    h(
      "nav",
      { class: "nav", "aria-label": "Main" },
      h("div", { class: "brand" }, mark("#7fd6c8"), "Quayside"),
      Object.entries(links).map(([name, href]) =>
        h(
          "a",
          { href, "aria-current": name === active ? "page" : undefined },
          svg(icons[name], 18, "currentColor"),
          name
        )
      ),
      h("footer", {}, "Dana Whitby", h("br"), "Supply desk · Monday 2 March")
    ),
    h(
      "main",
      { class: "page" },
      h(
        "header",
        { class: "head" },
        h("div", {}, h("h1", {}, title), under === undefined ? undefined : h("p", {}, under)),
        h("div", { class: "actions" }, actions)
      ),
      content
    )
  )
}

export const field = (label, control) => {
  // A label around a drop-down would be read with the chosen option.
  control.setAttribute("aria-label", label)
  return h("label", { class: "field" }, h("span", {}, label), control)
}

export const badge = (status) => h("span", { class: `badge ${status}` }, status)

/** A short message that stays until the next one or the next page. */
export const toast = (text) => {
  document.querySelector(".toast")?.remove()
  document.body.append(h("div", { class: "toast", role: "status" }, text))
}

/** Marks `input` as wrong and says why below it; no text takes the mark away. */
export const problem = (input, text) => {
  const label = input.closest("label")
  if (label.nextElementSibling?.classList.contains("problem")) label.nextElementSibling.remove()
  input.setAttribute("aria-invalid", String(text !== undefined))
  if (text !== undefined) label.after(h("span", { class: "problem", role: "alert" }, text))
  return text === undefined
}

/** Asks before something that can't be taken back. */
export const ask = ({ title, text, yes, no, danger = false, extra, onyes }) => {
  const dialog = h(
    "dialog",
    { "aria-label": title },
    h("h2", {}, title),
    h("p", { class: "soft" }, text),
    extra,
    h(
      "div",
      { class: "actions" },
      h("button", { type: "button", onclick: () => dialog.remove() }, no),
      h(
        "button",
        {
          type: "button",
          class: danger ? "danger main" : "main",
          onclick: () => {
            dialog.remove()
            onyes()
          }
        },
        yes
      )
    )
  )
  document.body.append(dialog)
  dialog.showModal()
}
