// The stock of the back office. Every figure follows from an index: no clock, no random value.

/** The day on which the back office stands still. */
export const today = "2026-03-02"

const customers = [
  ["Aldine Press", "Ruth Okafor", "01632 960 118", "3 Loom Street", "Leeds", "LS2 7QA"],
  ["Bramble & Hay", "Tom Whitlock", "01632 960 204", "77 Orchard Row", "Hereford", "HR1 2LX"],
  ["Cobalt Cycles", "Priya Nair", "01632 960 311", "12 Viaduct Arches", "Bristol", "BS1 6QH"],
  ["Dovetail Joinery", "Owen Price", "01632 960 322", "Unit 9, Mill Lane", "Cardiff", "CF10 4RU"],
  ["Ember Ceramics", "Lena Fischer", "01632 960 407", "41 Kiln Hill", "Stoke", "ST1 5PQ"],
  ["Fathom Dive Club", "Marc Auger", "01632 960 419", "Pier House", "Plymouth", "PL1 3DQ"],
  ["Gannet Outdoors", "Sofia Reyes", "01632 960 455", "8 Ridge Road", "Keswick", "CA12 5JG"],
  ["Hollow Oak School", "Anne Tennant", "01632 960 503", "Oak Avenue", "Norwich", "NR3 1AU"],
  ["Ironbark Coffee", "Jonas Lindqvist", "01632 960 540", "19 Roaster Yard", "London", "SE1 3XF"],
  ["Juniper Florists", "Mei Tanaka", "01632 960 588", "2 Market Cross", "Bath", "BA1 1LT"],
  ["Kittiwake Tours", "Callum Reid", "01632 960 612", "Harbour Office", "Oban", "PA34 4LN"],
  ["Lantern Theatre", "Grace Bello", "01632 960 660", "55 Stage Street", "Sheffield", "S1 2JB"],
  ["Marlow Books", "Edith Marlow", "01632 960 714", "41 Tanner Row", "York", "YO1 6HP"],
  ["North Pier Cafe", "Ben Sutcliffe", "01632 960 733", "North Pier", "Blackpool", "FY1 1NE"],
  ["Oriel Opticians", "Hana Novak", "01632 960 781", "27 Oriel Square", "Oxford", "OX1 4EW"],
  ["Pemberton Toys", "Luis Ferreira", "01632 960 802", "6 Arcade", "Chester", "CH1 2HQ"]
].map(([name, contact, phone, street, city, postcode]) => ({
  name,
  contact,
  phone,
  street,
  city,
  postcode
}))

const products = [
  ["RP-120", "Kraft paper roll, 120 m", 1840],
  ["BX-S02", "Shipping box, small (25)", 1265],
  ["BX-M04", "Shipping box, medium (25)", 1690],
  ["BX-L08", "Shipping box, large (10)", 1425],
  ["TP-050", "Paper tape, 50 mm (6)", 1110],
  ["LB-A6R", "Label roll A6 (500)", 1375],
  ["MB-C5", "Board mailer C5 (100)", 2230],
  ["BG-W10", "Honeycomb wrap, 10 m", 945],
  ["TW-JUT", "Jute twine, 200 m", 480],
  ["ST-FRG", "Fragile stickers (250)", 615]
]

const day = (offset) => new Date(Date.UTC(2026, 1, 1 + offset)).toISOString().slice(0, 10)

const order = (index) => {
  const lines = Array.from({ length: 2 + (index % 3) }, (_, line) => {
    const [sku, title, price] = products[(index * 3 + line * 4) % products.length]
    return { sku, title, price, amount: 1 + ((index + line * 2) % 5) }
  })
  const placed = day((index * 7) % 26)
  const due = day(((index * 7) % 26) + 9 + (index % 8))
  const state = ["Shipped", "New", "Packing", "Shipped", "Shipped", "New", "Shipped"][index % 7]
  return {
    id: `Q-${1001 + index}`,
    customer: customers[(index * 5 + 3) % customers.length],
    placed,
    due,
    lines,
    total: lines.reduce((sum, { price, amount }) => sum + price * amount, 0),
    status: state !== "Shipped" && due < today ? "Overdue" : state
  }
}

export const orders = Array.from({ length: 64 }, (_, index) => order(index))

export const pounds = (pence) =>
  `£${Math.floor(pence / 100)}.${String(pence % 100).padStart(2, "0")}`
