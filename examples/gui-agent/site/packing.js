import { currentOrders, h, show, store, toast } from "./app.js"

const lanes = ["To pack", "On the table", "Ready for pick-up"]
const start = {
  "Q-1006": 0,
  "Q-1038": 0,
  "Q-1045": 0,
  "Q-1052": 0,
  "Q-1002": 1,
  "Q-1017": 1,
  "Q-1044": 2
}
const orders = currentOrders()

const job = (id) => {
  const { customer, due, lines } = orders.find((order) => order.id === id)
  return h(
    "article",
    {
      class: "job",
      draggable: "true",
      "aria-label": `Job ${id}`,
      ondragstart: (event) => event.dataTransfer.setData("text/plain", id)
    },
    h("strong", {}, id),
    customer.name,
    h("div", { class: "soft" }, `${lines.length} lines · due ${due}`)
  )
}

const draw = () => {
  const places = store.get("packing", start)
  show(
    { title: "Packing", under: "Drag a job to its next place" },
    h(
      "div",
      { class: "columns board" },
      lanes.map((name, lane) => {
        const jobs = Object.keys(places).filter((id) => places[id] === lane)
        return h(
          "section",
          {
            class: "lane",
            "aria-label": name,
            ondragover: (event) => event.preventDefault(),
            ondrop: (event) => {
              event.preventDefault()
              const id = event.dataTransfer.getData("text/plain")
              store.set("packing", { ...places, [id]: lane })
              draw()
              toast(`${id} moved to “${name}”.`)
            }
          },
          h("h2", {}, `${name} (${jobs.length})`),
          jobs.map(job)
        )
      })
    )
  )
}
draw()
