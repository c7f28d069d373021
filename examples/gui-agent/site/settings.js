import { field, h, problem, show, store, toast } from "./app.js"

const saved = store.get("settings", {
  company: "Quayside Supply Co.",
  support: "desk@quayside.example",
  alerts: "everyone@quayside.example",
  days: "10",
  units: "Metric",
  digest: false,
  sounds: true
})

const text = (key, props = {}) => h("input", { value: saved[key], name: key, ...props })
const box = (key, label) =>
  h(
    "label",
    { class: "choice" },
    h("input", { type: "checkbox", name: key, checked: saved[key] }),
    label
  )

const alerts = text("alerts")
const days = text("days", { inputmode: "numeric" })
const banner = h("div")
const button = h("button", { class: "main" }, "Save settings")

const read = () => ({
  ...Object.fromEntries(new FormData(form)),
  digest: form.elements.digest.checked,
  sounds: form.elements.sounds.checked
})

const save = async (event) => {
  event.preventDefault()
  const fine = [
    problem(
      alerts,
      /^\S+@\S+\.\S+$/.test(alerts.value) ? undefined : "This isn't a whole e-mail address."
    ),
    problem(
      days,
      /^[1-9]\d?$/.test(days.value) ? undefined : "Enter a number of days from 1 to 99."
    )
  ]
  if (!fine.every(Boolean)) return
  const { ok, status } = await fetch("/api/settings", {
    method: "POST",
    body: JSON.stringify(read())
  })
  if (ok) {
    store.set("settings", read())
    banner.replaceChildren()
    toast("Settings saved.")
    return
  }
  banner.replaceChildren(
    h(
      "div",
      { class: "notice bad", role: "alert" },
      h(
        "span",
        {},
        h("b", {}, "The settings were not saved. "),
        `The settings service answered ${status}. What you entered is still here.`
      ),
      h("button", { type: "button", onclick: () => form.requestSubmit() }, "Try again")
    )
  )
}

const form = h(
  "form",
  { onsubmit: save, novalidate: true, style: "max-width: 860px" },
  h(
    "section",
    { class: "card", style: "margin-bottom: 18px" },
    h("h2", {}, "Company"),
    h(
      "div",
      { class: "pair" },
      field("Company name", text("company")),
      field("Support e-mail", text("support"))
    ),
    field(
      "Units",
      h(
        "select",
        { name: "units" },
        ["Metric", "Imperial"].map((name) => h("option", {}, name))
      )
    )
  ),
  h(
    "section",
    { class: "card", style: "margin-bottom: 18px" },
    h("h2", {}, "Alerts"),
    h(
      "div",
      { class: "pair" },
      h("div", {}, field("Send alerts to", alerts)),
      h("div", {}, field("Overdue after days", days))
    ),
    box("digest", "Send a daily digest at 7:00"),
    box("sounds", "Play a sound when an order arrives")
  ),
  h("div", { class: "actions" }, button, h("button", { type: "reset" }, "Undo changes"))
)

show({ title: "Settings", under: "For the whole supply desk" }, banner, form)
