import { ask, badge, changeOrder, currentOrders, field, h, problem, show, toast } from "./app.js"
import { pounds } from "./data.js"

const id = new URLSearchParams(location.search).get("id")
const postcodes = /^[A-Z]{1,2}\d[A-Z\d]? \d[A-Z]{2}$/

const addressForm = ({ customer }) => {
  const inputs = {
    street: h("input", { value: customer.street }),
    unit: h("input", { value: customer.unit ?? "" }),
    city: h("input", { value: customer.city }),
    postcode: h("input", { value: customer.postcode })
  }
  const save = (event) => {
    event.preventDefault()
    const whole = postcodes.test(inputs.postcode.value)
    if (!problem(inputs.postcode, whole ? undefined : "This postcode isn't complete.")) return
    changeOrder(id, {
      customer: Object.fromEntries(Object.entries(inputs).map(([key, { value }]) => [key, value])),
      moved: true
    })
    draw()
    toast("Delivery address saved.")
  }
  return h(
    "form",
    { onsubmit: save },
    h("div", { class: "pair" }, field("Street", inputs.street), field("Unit", inputs.unit)),
    h(
      "div",
      { class: "pair" },
      field("City", inputs.city),
      h("div", {}, field("Postcode", inputs.postcode))
    ),
    h(
      "div",
      { class: "actions" },
      h("button", { class: "main" }, "Save address"),
      h("button", { type: "button", onclick: () => draw() }, "Discard")
    )
  )
}

const addressCard = (order, editing) =>
  h(
    "section",
    { class: "card", "aria-label": "Delivery address" },
    h("h2", {}, "Delivery address"),
    editing
      ? addressForm(order)
      : [
          h(
            "address",
            {},
            order.customer.name,
            h("br"),
            [order.customer.street, order.customer.unit].filter(Boolean).join(", "),
            h("br"),
            `${order.customer.city} ${order.customer.postcode}`
          ),
          h("p"),
          h("button", { type: "button", onclick: () => draw(true) }, "Edit address")
        ]
  )

const cancel = () => {
  const reason = h(
    "select",
    {},
    ["Customer asked", "Out of stock", "Duplicate order"].map((name) => h("option", {}, name))
  )
  ask({
    title: `Cancel order ${id}?`,
    text: "The customer is told by e-mail and the goods go back to stock. This can't be undone.",
    extra: field("Reason", reason),
    no: "Keep order",
    yes: "Cancel this order",
    danger: true,
    onyes: () => {
      changeOrder(id, { status: "Cancelled", reason: reason.value })
      draw()
      toast(`Order ${id} was cancelled.`)
    }
  })
}

const history = (order) => [
  [order.placed, "Order placed in the web shop"],
  [order.placed, `Payment of ${pounds(order.total)} received by card`],
  [order.due, "Promised delivery day"],
  ...(order.moved ? [["2026-03-02", "Delivery address changed by Dana Whitby"]] : []),
  ...(order.tracking ? [["2026-03-02", `Shipment booked: ${order.tracking}`]] : []),
  ...(order.reason ? [["2026-03-02", `Cancelled by Dana Whitby: ${order.reason}`]] : [])
]

const draw = (editing = false) => {
  const order = currentOrders().find((one) => one.id === id)
  if (order === undefined) return location.replace("/404.html")
  const { customer } = order
  const closed = order.status === "Cancelled"
  show(
    {
      title: `Order ${id}`,
      under: h("span", {}, badge(order.status), ` placed ${order.placed}, due ${order.due}`),
      active: "Orders",
      actions: [
        h("button", { type: "button" }, "Print packing slip"),
        h(
          "button",
          { type: "button", class: "danger", disabled: closed, onclick: cancel },
          "Cancel order"
        )
      ]
    },
    h(
      "div",
      { class: "columns", style: "grid-template-columns: 3fr 2fr; margin-bottom: 18px" },
      h(
        "section",
        { class: "card", "aria-label": "Items" },
        h("h2", {}, "Items"),
        h(
          "table",
          {},
          h(
            "thead",
            {},
            h(
              "tr",
              {},
              ["SKU", "Item", "Amount", "Price", "Sum"].map((name) => h("th", {}, name))
            )
          ),
          h(
            "tbody",
            {},
            order.lines.map(({ sku, title, amount, price }) =>
              h(
                "tr",
                {},
                [sku, title, String(amount), pounds(price), pounds(price * amount)].map((cell) =>
                  h("td", {}, cell)
                )
              )
            )
          )
        ),
        h(
          "p",
          { class: "right", style: "margin: 14px 12px 0" },
          h("b", {}, `Total ${pounds(order.total)}`)
        )
      ),
      h(
        "section",
        { class: "card", "aria-label": "Customer" },
        h("h2", {}, "Customer"),
        h(
          "dl",
          {},
          [
            ["Name", customer.name],
            ["Contact", customer.contact],
            ["Phone", customer.phone],
            ["Terms", "Paid by card"],
            ["Tracking", order.tracking ?? "not shipped yet"]
          ].flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)])
        )
      )
    ),
    h(
      "div",
      { class: "columns", style: "grid-template-columns: 3fr 2fr" },
      addressCard(order, editing),
      h(
        "section",
        { class: "card", "aria-label": "History" },
        h("h2", {}, "History"),
        h(
          "ol",
          { class: "timeline" },
          history(order).map(([when, what]) =>
            h("li", {}, h("span", { class: "soft" }, when), h("br"), what)
          )
        )
      )
    ),
    h(
      "section",
      { class: "card", style: "margin-top: 18px", "aria-label": "Packing remarks" },
      h("h2", {}, "Packing remarks"),
      h(
        "p",
        {},
        "Pack rolls upright and put board mailers flat at the bottom. Seal with paper tape only."
      ),
      h(
        "p",
        { class: "soft" },
        "Two people for boxes of more than 15 kg. Photograph damaged cartons before you replace them."
      )
    )
  )
}
draw()
