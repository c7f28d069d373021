// The model's side of the session: what it is asked, thinks, says and calls. Only this side is
// written by hand; every result comes from the browser.

/** A tool call: the tool, what the step is for, and the tool's other arguments. */
type Call = readonly [tool: string, goal: string, args?: Readonly<Record<string, unknown>>]

/** One answer of the model. Several calls are made in parallel; `fails` says that one must fail. */
export interface Step {
  readonly think?: string
  readonly say?: string
  readonly calls: ReadonlyArray<Call>
  readonly fails?: true
}

export interface Turn {
  readonly user: string
  /** The user attaches what the browser shows now. */
  readonly attach?: true
  readonly steps: ReadonlyArray<Step>
  readonly answer: { readonly think?: string; readonly say: string }
}

export const systemPrompt = `You work the web back office of Quayside Supply Co. for the supply desk. You see it through a browser of 1280 x 720 px and act on it with tools.

How to work
- Before each call say in a line what you see and what you do next. Every call has a goal.
- Look at the screenshot that comes back before you go on. If it isn't what you expected, say so and try another way; don't repeat a call that changed nothing more than once.
- Elements are named by role and by the name that the page shows. When you are not sure of a name, read the page as text.
- Two fields of one form may be filled in one go. Anything that leaves the page goes alone.
- Don't confirm a dialog that you haven't read. Cancel orders only when you were asked to.
- When you are done, answer in a few lines: what was done, what wasn't, and the figures that were asked for.

What you know
- Orders have numbers such as Q-1001. Overdue means past the due date and not shipped.
- Carriers: Tern Parcel (up to 25 kg), Heron Freight (pallets), Dock & Dale (same city).
- Dates are written YYYY-MM-DD, money in pounds. Today is Monday 2026-03-02.
- The back office belongs to one desk: what you save is seen by everyone at once.`

const click = (goal: string, role: string, name: string): Call => ["click", goal, { role, name }]
const fill = (goal: string, field: string, text: string): Call => ["fill", goal, { field, text }]
const type = (goal: string, text: string): Call => ["type", goal, { text }]
const press = (goal: string, key: string): Call => ["press", goal, { key }]
const select = (goal: string, field: string, option: string): Call => [
  "select",
  goal,
  { field, option }
]
const read = (goal: string): Call => ["read_page", goal]
const look = (goal: string): Call => ["screenshot", goal]

const round: Turn = {
  user: `Good morning. Please do the Monday round in the back office; the sign-in page is open, as you see in the screenshot. The account is dana@quayside.example, the demo password is "tideline".

1. Tell me how many orders are overdue, and which one has waited longest.
2. Marlow Books has moved. Their overdue order goes to 14 Tanner Row, Unit 3, York YO1 6JB instead of the old address. Correct it on the order.
3. Book a shipment for that order: Tern Parcel, one box, 4.2 kg, insured, pick-up on 2026-03-04 in the morning.
4. Write a note "Marlow Books moved" for the desk, as a bulleted list: order number, new address, tracking number.
5. In the settings: overdue after 5 days, alerts to stock@quayside.example, daily digest on.`,
  attach: true,
  steps: [
    {
      think:
        "Five jobs. The order number of Marlow Books isn't given, so I find it in the overdue list. The tracking number will only exist after the shipment is booked, so the note comes after that.",
      say: "The sign-in form is open. I fill in both fields.",
      calls: [
        fill("Enter the account", "E-mail", "dana@quayside.example"),
        fill("Enter the password", "Password", "tidelin")
      ]
    },
    { say: "Both fields are filled in.", calls: [click("Sign in", "button", "Sign in")] },
    {
      say: "It says that e-mail and password don't match: I left out the last letter. I enter it again.",
      calls: [fill("Correct the password", "Password", "tideline")]
    },
    { calls: [press("Sign in with the corrected password", "Enter")] },
    {
      say: "Signed in. The dashboard says that 17 orders are past their due date. I read the page for exact names.",
      calls: [read("Read the dashboard")]
    },
    {
      say: "There is a link to exactly these orders.",
      calls: [click("Open the overdue orders", "link", "Show overdue orders")]
    },
    {
      say: "17 orders, ten on a page. To find the oldest I sort by the due date.",
      calls: [click("Sort by due date", "button", "Sort by Due")]
    },
    {
      think:
        "Ascending: the first row is the one that has waited longest. Q-1027 of Fathom Dive Club, due 2026-02-12. Marlow Books isn't on this page as far as I can see; read the table to be sure.",
      say: "Q-1027 of Fathom Dive Club, due 2026-02-12, is first. I read the table to be exact and to look for Marlow Books.",
      calls: [read("Read the sorted table")]
    },
    {
      say: "Marlow Books must be on the second page.",
      calls: [click("Go to the second page", "button", "Next page")]
    },
    {
      say: "Here is Marlow Books. I open the order.",
      calls: [click("Open the order of Marlow Books", "link", "Marlow Books")],
      fails: true
    },
    {
      say: "The customer's name is no link; only the order number is. I search for the name to have it alone.",
      calls: [fill("Show only Marlow Books", "Search orders", "Marlow")]
    },
    {
      say: "One overdue order: Q-1006. Before I open it I check that there is no second open order that the move touches.",
      calls: [select("Look at all orders of this customer", "Status", "All")]
    },
    {
      say: "Four orders; two are shipped, Q-1038 is in packing and not overdue. I was asked for the overdue one only, and mention the other at the end.",
      calls: [click("Open the overdue order", "link", "Q-1006")]
    },
    {
      say: "Order Q-1006. The address is at the lower left; I scroll down to see the whole of it.",
      calls: [["scroll", "See the address and the history", { by: 400 }]]
    },
    {
      think:
        "41 Tanner Row, York YO1 6HP is the old address. It has to become 14 Tanner Row, Unit 3, YO1 6JB.",
      say: "The old address is 41 Tanner Row, York YO1 6HP.",
      calls: [click("Open the address for editing", "button", "Edit address")]
    },
    {
      say: "The form is open. Street and unit first.",
      calls: [
        fill("Enter the new street", "Street", "14 Tanner Row"),
        fill("Enter the unit", "Unit", "Unit 3")
      ]
    },
    { say: "Now the postcode.", calls: [fill("Enter the new postcode", "Postcode", "YO1 6J")] },
    { calls: [click("Save the address", "button", "Save address")] },
    {
      say: "The postcode isn't complete: the last letter is missing. The caret goes to the end of the field.",
      calls: [click("Put the caret into the postcode", "textbox", "Postcode")]
    },
    { calls: [press("Put the caret at the end", "End")] },
    { calls: [type("Add the missing letter", "B")] },
    {
      say: "YO1 6JB. I save again.",
      calls: [click("Save the completed address", "button", "Save address")]
    },
    {
      say: "Saved, the page says so. I verify it in the text and in the picture.",
      calls: [read("Verify the saved address"), look("See the order after saving")]
    },
    {
      say: "Address and history are right. Now the shipment.",
      calls: [["navigate", "Open the shipment form", { path: "/shipments/new" }]],
      fails: true
    },
    {
      say: "That address doesn't exist; I guessed it. The error page has a way back, and the dashboard has a button for it.",
      calls: [click("Leave the error page", "link", "Back to the dashboard")]
    },
    {
      say: "New shipment is on this page twice, in the menu and at the top; both lead to /shipment.html, so I open that.",
      calls: [["navigate", "Open the wizard by its real address", { path: "/shipment.html" }]]
    },
    {
      say: "Step 1 of 3. The carrier is already Tern Parcel, one box is preset.",
      calls: [
        fill("Enter the order", "Order number", "Q-1006"),
        fill("Enter the weight", "Weight in kg", "4.2")
      ]
    },
    { calls: [click("Go on to the pick-up", "button", "Continue")] },
    {
      say: "Step 2. The morning is preset; day and insurance are missing.",
      calls: [
        fill("Enter the pick-up day", "Pick-up day", "2026-03-04"),
        click("Insure the parcel", "checkbox", "Insure for the value of the goods")
      ]
    },
    { calls: [click("Go on to the review", "button", "Continue")] },
    {
      say: "The review shows what I was told. I confirm.",
      calls: [click("Confirm the shipment", "button", "Confirm shipment")],
      fails: true
    },
    {
      think:
        "The button is disabled because the carrier's quote isn't there yet. Waiting is free; ask again after that.",
      say: "The button waits for the carrier's quote. I give it a moment.",
      calls: [["wait", "Wait for the carrier's quote", { seconds: 2 }]]
    },
    {
      say: "Nothing has changed.",
      calls: [click("Ask for the quote again", "button", "Check again")]
    },
    { calls: [["wait", "Wait for the answer", { seconds: 1 }]] },
    {
      say: "Still waiting. I ask once more.",
      calls: [click("Ask a last time", "button", "Check again")]
    },
    {
      say: "The quote has come: £8.40. Now the button is active.",
      calls: [click("Confirm the shipment", "button", "Confirm shipment")]
    },
    {
      say: "The dialog names Tern Parcel, 2026-03-04 and £8.40 to the desk's account. That is what I was asked to book.",
      calls: [click("Book the pick-up", "button", "Book pick-up")]
    },
    {
      think: "TP-7741-2093 is the tracking number; the note and the final answer need it.",
      say: "Booked: tracking number TP-7741-2093. Next the note.",
      calls: [click("Open the notes", "link", "Notes")]
    },
    { calls: [click("Start a note", "button", "New note")] },
    { calls: [fill("Give the note its title", "Title", "Marlow Books moved")] },
    {
      say: "The text goes into the editor below.",
      calls: [click("Put the caret into the text", "textbox", "Note")]
    },
    { calls: [click("Start a list", "button", "Bulleted list")] },
    { calls: [type("Write the first point", "Order Q-1006, placed 2026-02-10")] },
    { calls: [press("Start the second point", "Enter")] },
    { calls: [click("Make the address stand out", "button", "Bold")] },
    { calls: [type("Write the new address", "14 Tanner Row, Unit 3, York YO1 6JB")] },
    { calls: [click("End the bold text", "button", "Bold")] },
    { calls: [press("Start the third point", "Enter")] },
    { calls: [type("Write the tracking number", "Tern Parcel TP-7741-2093, pick-up 2026-03-04")] },
    {
      say: "Three points, the address in bold.",
      calls: [click("Save the note", "button", "Save note")]
    },
    {
      say: "The note is first in the list. Last, the settings.",
      calls: [click("Open the settings", "link", "Settings")]
    },
    {
      say: "The fields are called Send alerts to and Overdue after days.",
      calls: [
        fill("Send alerts to the stock desk", "Send alerts to", "stock@quayside"),
        fill("Set the limit to 5 days", "Overdue after days", "5")
      ]
    },
    { calls: [click("Turn the digest on", "checkbox", "Send a daily digest at 7:00")] },
    { calls: [click("Save the settings", "button", "Save settings")] },
    {
      say: "The e-mail isn't whole: I left out .example.",
      calls: [fill("Complete the e-mail", "Send alerts to", "stock@quayside.example")]
    },
    { calls: [click("Save the settings again", "button", "Save settings")] },
    {
      think:
        "503 is the service's fault, not the form's. The values are still there. One retry is reasonable.",
      say: "The settings service answered 503 and nothing was saved. The form still holds my values; I wait and try again.",
      calls: [["wait", "Give the service a moment", { seconds: 1 }]]
    },
    { calls: [click("Save once more", "button", "Try again")] },
    {
      say: "Saved this time. I read the form back to be sure.",
      calls: [read("Verify the settings")]
    }
  ],
  answer: {
    say: `The Monday round is done.

1. 17 orders are overdue. Q-1027 of Fathom Dive Club has waited longest: it was due on 2026-02-12.
2. Q-1006 of Marlow Books now goes to 14 Tanner Row, Unit 3, York YO1 6JB.
3. Its shipment is booked with Tern Parcel for the morning of 2026-03-04, insured, £8.40. Tracking number TP-7741-2093.
4. The note "Marlow Books moved" is saved.
5. Settings: overdue after 5 days, alerts to stock@quayside.example, daily digest on. The first save failed with 503, the second one worked.

Not done, since you didn't ask: Q-1038 of Marlow Books is in packing, still with the old address.`
  }
}

const followUp: Turn = {
  user: "Thank you. Two more things: Fathom Dive Club rang and doesn't want the overdue order any more, so please cancel it. And Q-1006 is packed: move its job on the packing board to where the carrier picks it up.",
  steps: [
    {
      think:
        "The overdue order of Fathom Dive Club was the oldest one, Q-1027. But a second one may be overdue: Q-1059 was in the table too. Check before cancelling.",
      say: "Q-1027 is the one that I named. I check that it is their only overdue order.",
      calls: [
        [
          "navigate",
          "List the orders of Fathom Dive Club",
          { path: "/orders.html?status=Overdue&q=Fathom" }
        ]
      ]
    },
    {
      say: "There are two, Q-1027 and Q-1059. We spoke of Q-1027, which has waited longest; I cancel only that one and name the other in my answer.",
      calls: [click("Open the oldest order", "link", "Q-1027")]
    },
    { calls: [click("Start the cancellation", "button", "Cancel order")] },
    {
      say: "The dialog says that this can't be undone. It is order Q-1027, and the reason is right: the customer asked.",
      calls: [click("Cancel the order", "button", "Cancel this order")]
    },
    {
      say: "Cancelled. Now the packing board.",
      calls: [click("Open the packing board", "link", "Packing")]
    },
    {
      say: "Q-1006 is in the first lane.",
      calls: [
        [
          "drag",
          "Move the job to the pick-up lane",
          { role: "article", name: "Job Q-1006", toRole: "region", toName: "Ready for pick-up" }
        ]
      ]
    },
    { say: "It is in the last lane now.", calls: [read("Verify the board")] }
  ],
  answer: {
    say: "Done. Q-1027 of Fathom Dive Club is cancelled, reason: customer asked. They have a second overdue order, Q-1059, due 2026-02-28, which I left as it is. The job of Q-1006 is in the lane Ready for pick-up."
  }
}

const question: Turn = {
  user: "Edith Marlow is on the phone. What was the tracking number, and what was the old address that we had?",
  steps: [],
  answer: {
    think:
      "Both were seen in the first half: the address on the order before I changed it, the number after the booking.",
    say: "Tracking number TP-7741-2093 (Tern Parcel, pick-up on 2026-03-04). The old address was 41 Tanner Row, York YO1 6HP."
  }
}

export const turns: ReadonlyArray<Turn> = [round, followUp, question]
