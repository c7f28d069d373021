import { badge, currentOrders, h, show } from "./app.js"
import { pounds } from "./data.js"

const orders = currentOrders()
const overdue = orders.filter(({ status }) => status === "Overdue")
const count = (status) => orders.filter((order) => order.status === status).length

const figure = (title, value, under) =>
  h(
    "section",
    { class: "card", "aria-label": title },
    h("div", { class: "soft" }, title),
    h("div", { class: "figure" }, String(value)),
    h("div", { class: "soft" }, under)
  )

const week = [
  ["Tue", 18],
  ["Wed", 24],
  ["Thu", 21],
  ["Fri", 31],
  ["Sat", 12],
  ["Sun", 6],
  ["Mon", 15]
]

show(
  {
    title: "Dashboard",
    under: "Good morning, Dana. Here is the desk at a glance.",
    actions: [h("a", { class: "button main", href: "/shipment.html" }, "New shipment")]
  },
  h(
    "div",
    { class: "notice", role: "alert" },
    h("span", {}, `${overdue.length} orders are past their due date and not shipped.`),
    h("a", { class: "button", href: "/orders.html?status=Overdue" }, "Show overdue orders")
  ),
  h(
    "div",
    { class: "columns", style: "grid-template-columns: repeat(4, 1fr); margin-bottom: 18px" },
    figure("New orders", count("New"), "waiting for a packer"),
    figure("In packing", count("Packing"), "2 packers on shift"),
    figure("Shipped", count("Shipped"), "since 1 February"),
    figure("Open value", pounds(overdue.reduce((sum, { total }) => sum + total, 0)), "overdue only")
  ),
  h(
    "div",
    { class: "columns", style: "grid-template-columns: 3fr 2fr" },
    h(
      "section",
      { class: "card" },
      h("h2", {}, "Newest orders"),
      h(
        "table",
        {},
        h(
          "tbody",
          {},
          orders
            .toReversed()
            .slice(0, 6)
            .map(({ id, customer, total, status }) =>
              h(
                "tr",
                {},
                h("td", {}, h("a", { href: `/order.html?id=${id}` }, id)),
                h("td", {}, customer.name),
                h("td", { class: "right" }, pounds(total)),
                h("td", { class: "right" }, badge(status))
              )
            )
        )
      )
    ),
    h(
      "section",
      { class: "card" },
      h("h2", {}, "Parcels handed over, last 7 days"),
      h(
        "div",
        { class: "bar" },
        week.map(([name, parcels]) =>
          h(
            "div",
            { class: name === "Mon" ? "now" : "", style: `height: ${parcels * 4.5}px` },
            String(parcels)
          )
        )
      ),
      h(
        "div",
        { class: "days" },
        week.map(([name]) => h("span", {}, name))
      )
    )
  )
)
