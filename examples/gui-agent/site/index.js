import { field, h, mark, problem } from "./app.js"

const email = h("input", { type: "email", autocomplete: "off" })
const password = h("input", { type: "password", autocomplete: "off" })

const signIn = (event) => {
  event.preventDefault()
  if (!problem(email, email.value === "" ? "Enter your e-mail address." : undefined)) return
  const right = email.value === "dana@quayside.example" && password.value === "tideline"
  if (problem(password, right ? undefined : "This e-mail and password don't match. 4 tries left."))
    location.assign("/dashboard.html")
}

document.body.className = "alone"
document.body.append(
  h(
    "main",
    { class: "card" },
    mark("#0d7a6f"),
    h("h1", {}, "Quayside back office"),
    h("p", { class: "soft" }, "Sign in to see orders, shipments and stock."),
    h(
      "form",
      { onsubmit: signIn, novalidate: true },
      field("E-mail", email),
      field("Password", password),
      h("button", { class: "main" }, "Sign in")
    ),
    h(
      "p",
      { class: "soft", style: "margin-top: 16px" },
      "Forgotten it? Ask the supply desk, extension 14."
    )
  )
)
