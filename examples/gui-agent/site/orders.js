import { badge, currentOrders, field, h, show } from "./app.js"
import { pounds } from "./data.js"

const perPage = 10
const columns = {
  Order: ({ id }) => id,
  Customer: ({ customer }) => customer.name,
  City: ({ customer }) => customer.city,
  Placed: ({ placed }) => placed,
  Due: ({ due }) => due,
  Total: ({ total }) => total,
  Status: ({ status }) => status
}
const asked = new URLSearchParams(location.search)
const state = { page: 0, column: "Order", down: false }

const search = h("input", {
  type: "search",
  placeholder: "Order, customer or city",
  value: asked.get("q") ?? ""
})
const status = h(
  "select",
  {},
  ["All", "New", "Packing", "Shipped", "Overdue", "Cancelled"].map((name) =>
    h("option", { selected: name === asked.get("status") }, name)
  )
)
const table = h("section", { class: "card table", "aria-label": "Orders" })

const found = () => {
  const words = search.value.trim().toLowerCase()
  const key = columns[state.column]
  const sign = state.down ? -1 : 1
  return currentOrders()
    .filter((order) => status.value === "All" || order.status === status.value)
    .filter(({ id, customer }) =>
      `${id} ${customer.name} ${customer.city}`.toLowerCase().includes(words)
    )
    .toSorted((a, b) => (key(a) < key(b) ? -sign : key(a) > key(b) ? sign : 0))
}

const sortBy = (column) => () => {
  state.down = state.column === column && !state.down
  state.column = column
  state.page = 0
  draw()
}
const turn = (by) => () => {
  state.page += by
  draw()
}

const draw = () => {
  const rows = found()
  const first = state.page * perPage
  const last = Math.min(rows.length, first + perPage)
  table.replaceChildren(
    h(
      "table",
      {},
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          Object.keys(columns).map((name) =>
            h(
              "th",
              { class: name === "Total" ? "right" : "" },
              h(
                "button",
                { type: "button", "aria-label": `Sort by ${name}`, onclick: sortBy(name) },
                name
              ),
              name === state.column ? (state.down ? " ▼" : " ▲") : ""
            )
          )
        )
      ),
      h(
        "tbody",
        {},
        rows
          .slice(first, last)
          .map((order) =>
            h(
              "tr",
              {},
              h("td", {}, h("a", { href: `/order.html?id=${order.id}` }, order.id)),
              h("td", {}, order.customer.name),
              h("td", {}, order.customer.city),
              h("td", {}, order.placed),
              h("td", {}, order.due),
              h("td", { class: "right" }, pounds(order.total)),
              h("td", {}, badge(order.status))
            )
          )
      )
    ),
    h(
      "div",
      { class: "pager" },
      h(
        "span",
        { class: "soft" },
        rows.length === 0 ? "No order fits." : `Showing ${first + 1}–${last} of ${rows.length}`
      ),
      h(
        "div",
        { class: "actions" },
        h(
          "button",
          { type: "button", disabled: state.page === 0, onclick: turn(-1) },
          "Previous page"
        ),
        h(
          "button",
          { type: "button", disabled: last >= rows.length, onclick: turn(1) },
          "Next page"
        )
      )
    )
  )
}

const restart = () => {
  state.page = 0
  draw()
}
search.addEventListener("input", restart)
status.addEventListener("change", restart)

show(
  { title: "Orders", under: "All orders since 1 February" },
  h(
    "div",
    { class: "filters" },
    field("Search orders", search),
    field("Status", status),
    h("a", { class: "button main", href: "/shipment.html" }, "New shipment")
  ),
  table
)
draw()
