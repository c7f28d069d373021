import { field, h, show, store, toast } from "./app.js"

const notes = store.get("notes", [
  {
    title: "Spring catalogue",
    body: "<p>New mailers in <b>C5</b> and <b>C4</b>, samples by 20 March.</p>"
  },
  { title: "Forklift service", body: "<p>Bay 2 is closed on Thursday from 9 to 11.</p>" },
  {
    title: "Heron Freight contacts",
    body: "<ul><li>Desk: extension 31</li><li>Claims: extension 37</li></ul>"
  }
])
let open = 0

const plain = (html) => {
  const part = h("div")
  part.innerHTML = html
  return part.innerText.replaceAll(/\s+/g, " ").slice(0, 34)
}

const draw = () => {
  const title = h("input", { value: notes[open].title, placeholder: "Title of the note" })
  const editor = h("div", {
    class: "editor",
    contenteditable: "true",
    role: "textbox",
    "aria-multiline": "true",
    "aria-label": "Note"
  })
  editor.innerHTML = notes[open].body
  const tool = (name, command, value) => {
    const button = h(
      "button",
      {
        type: "button",
        "aria-pressed": "false",
        // Keeps the caret in the text.
        onmousedown: (event) => event.preventDefault(),
        onclick: () => {
          editor.focus()
          document.execCommand(command, false, value)
          mark()
        }
      },
      name
    )
    const mark = () =>
      value === undefined &&
      button.setAttribute("aria-pressed", String(document.queryCommandState(command)))
    editor.addEventListener("keyup", mark)
    return button
  }
  const save = () => {
    notes[open] = { title: title.value, body: editor.innerHTML }
    store.set("notes", notes)
    draw()
    toast("Note saved.")
  }
  show(
    {
      title: "Notes",
      under: "Shared by everyone at the supply desk",
      actions: [
        h(
          "button",
          {
            type: "button",
            onclick: () => {
              notes.unshift({ title: "", body: "" })
              open = 0
              draw()
            }
          },
          "New note"
        )
      ]
    },
    h(
      "div",
      { class: "columns notes" },
      h(
        "nav",
        { "aria-label": "Notes" },
        notes.map((note, index) =>
          h(
            "button",
            {
              type: "button",
              "aria-current": index === open ? "true" : undefined,
              onclick: () => {
                open = index
                draw()
              }
            },
            note.title || "Untitled",
            h("small", {}, plain(note.body) || "empty")
          )
        )
      ),
      h(
        "section",
        { class: "card" },
        field("Title", title),
        h(
          "div",
          { class: "toolbar", role: "toolbar", "aria-label": "Format" },
          tool("Bold", "bold"),
          tool("Italic", "italic"),
          tool("Heading", "formatBlock", "h2"),
          tool("Bulleted list", "insertUnorderedList")
        ),
        editor,
        h(
          "div",
          { class: "actions" },
          h("button", { type: "button", class: "main", onclick: save }, "Save note")
        )
      )
    )
  )
}
draw()
