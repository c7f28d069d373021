import { ask, changeOrder, currentOrders, field, h, problem, show, store, toast } from "./app.js"

const names = ["Parcel", "Pick-up", "Review"]
const draft = {
  order: "",
  carrier: "Tern Parcel",
  weight: "",
  boxes: "1",
  date: "",
  slot: "Morning",
  insured: false
}
let step = 0
let checks = 0

const input = (key, props = {}) => {
  const control = h("input", { value: draft[key], ...props })
  control.addEventListener("input", () => (draft[key] = control.value))
  return control
}

const buttons = (next, forward) =>
  h(
    "div",
    { class: "actions" },
    step > 0 ? h("button", { type: "button", onclick: () => go(step - 1) }, "Back") : undefined,
    h("button", { type: "button", class: "main", ...next }, forward)
  )

const parcel = () => {
  const order = input("order", { placeholder: "Q-1000" })
  const weight = input("weight", { inputmode: "decimal" })
  const carrier = h(
    "select",
    { onchange: () => (draft.carrier = carrier.value) },
    ["Tern Parcel", "Heron Freight", "Dock & Dale"].map((name) =>
      h("option", { selected: name === draft.carrier }, name)
    )
  )
  const next = () => {
    const known = currentOrders().some(({ id }) => id === draft.order)
    const heavy = Number(draft.weight) > 0
    const fine = [
      problem(order, known ? undefined : "There is no such order."),
      problem(weight, heavy ? undefined : "Enter the weight in kilograms.")
    ]
    if (fine.every(Boolean)) go(1)
  }
  return [
    h(
      "div",
      { class: "pair" },
      h("div", {}, field("Order number", order)),
      field("Carrier", carrier)
    ),
    h(
      "div",
      { class: "pair" },
      h("div", {}, field("Weight in kg", weight)),
      field("Boxes", input("boxes"))
    ),
    buttons({ onclick: next }, "Continue")
  ]
}

const pickUp = () => {
  const date = input("date", { placeholder: "YYYY-MM-DD" })
  const insured = h("input", {
    type: "checkbox",
    checked: draft.insured,
    onchange: () => (draft.insured = insured.checked)
  })
  const next = () => {
    const fine = /^\d{4}-\d{2}-\d{2}$/.test(draft.date)
    if (problem(date, fine ? undefined : "Write the day as YYYY-MM-DD.")) go(2)
  }
  return [
    h(
      "div",
      { class: "pair" },
      h("div", {}, field("Pick-up day", date)),
      h("div", {}, field("Gate", input("gate", { value: "North gate" })))
    ),
    ["Morning", "Afternoon"].map((slot) =>
      h(
        "label",
        { class: "choice" },
        h("input", {
          type: "radio",
          name: "slot",
          checked: slot === draft.slot,
          onchange: () => (draft.slot = slot)
        }),
        `${slot} (${slot === "Morning" ? "8 to 12" : "12 to 17"})`
      )
    ),
    h("label", { class: "choice" }, insured, "Insure for the value of the goods"),
    buttons({ onclick: next }, "Continue")
  ]
}

const review = () => {
  const quoted = checks >= 2
  return [
    h(
      "dl",
      { style: "margin-bottom: 18px" },
      [
        ["Order", draft.order],
        ["Carrier", draft.carrier],
        ["Parcel", `${draft.boxes} box, ${draft.weight} kg`],
        ["Pick-up", `${draft.date}, ${draft.slot.toLowerCase()}`],
        ["Insurance", draft.insured ? "yes" : "no"],
        ["Quote", quoted ? "£8.40, valid today" : "waiting for the carrier"]
      ].flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)])
    ),
    quoted
      ? h("div", { class: "notice good", role: "status" }, "The carrier's quote has arrived.")
      : h(
          "div",
          { class: "notice", role: "status" },
          `Waiting for the quote of ${draft.carrier}. Asked ${checks + 1}×.`,
          h("button", { type: "button", onclick: () => (checks++, draw()) }, "Check again")
        ),
    buttons({ disabled: !quoted, onclick: confirm }, "Confirm shipment")
  ]
}

const confirm = () =>
  ask({
    title: "Book this pick-up?",
    text: `${draft.carrier} comes on ${draft.date} and charges £8.40 to the desk's account.`,
    no: "Not yet",
    yes: "Book pick-up",
    onyes: () => {
      const tracking = "TP-7741-2093"
      changeOrder(draft.order, { tracking, status: "Packing" })
      store.set("shipments", [...store.get("shipments", []), { ...draft, tracking }])
      go(3)
      toast("Pick-up booked.")
    }
  })

const done = () => [
  h("h2", {}, `Shipment for ${draft.order} is booked`),
  h("p", { class: "figure" }, "TP-7741-2093"),
  h(
    "p",
    { class: "soft" },
    "Tracking number. The label is in the printer queue of the packing room."
  ),
  h("a", { class: "button main", href: `/order.html?id=${draft.order}` }, "Open the order")
]

const go = (to) => {
  step = to
  draw()
}

const draw = () =>
  show(
    { title: "New shipment", under: "Three steps: the parcel, the pick-up, a last look" },
    h(
      "ol",
      { class: "steps" },
      names.map((name, index) =>
        h(
          "li",
          {
            class: index < step ? "done" : "",
            "aria-current": index === step ? "step" : undefined
          },
          `${index + 1}. ${name}`
        )
      )
    ),
    h(
      "section",
      { class: "card", style: "max-width: 760px" },
      [parcel, pickUp, review, done][step]()
    )
  )
draw()
