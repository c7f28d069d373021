import * as Edit from "@varve/core/Edit"
import type { Message } from "@varve/core/Message"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { Chunked } from "../src/internal/Chunked.ts"
import { Draft } from "../src/internal/Draft.ts"
import { ViewState } from "../src/internal/ViewState.ts"
import { contextOf } from "./fixtures/views.ts"

/** A step with a text, and an image in every second. */
const step = (n: number): ReadonlyArray<Message> => [
  {
    role: "assistant",
    content: [{ type: "toolCall", id: `c${n}`, name: "look", arguments: { n } }]
  },
  {
    role: "toolResult",
    toolCallId: `c${n}`,
    toolName: "look",
    isError: false,
    content: [
      { type: "text", text: `Page ${n}: ${"word ".repeat(20)}` },
      ...(n % 2 === 0
        ? [{ type: "image" as const, data: `iVBO${n}`.padEnd(64, "A"), mimeType: "image/png" }]
        : [])
    ]
  }
]

const all: ReadonlyArray<Message> = [
  { role: "user", content: "the task" },
  ...Array.from({ length: 200 }, (_, n) => step(n)).flat()
]

const history = (steps: number): ReadonlyArray<Message> => all.slice(0, 1 + 2 * steps)

/** What a strategy may look at, found anew from the items alone. */
const anew = (view: ViewState): ViewState =>
  new ViewState(Chunked.of(view.list.toArray()), { ...view, context: view.context })

const looks = (view: ViewState) => ({
  messages: view.messages,
  images: view.images,
  results: view.results,
  groups: view.groups,
  totals: view.items.reduce((sum, item) => sum + item.tokens, 0)
})

const anEdit = fc.record({
  kind: fc.constantFrom("text", "image", "fold", "memo", "none"),
  at: fc.nat(400),
  length: fc.integer({ min: 1, max: 5 })
})

const editOf = (
  view: ViewState,
  { at, kind, length }: { kind: string; at: number; length: number }
): Edit.Edit | undefined => {
  const some = <A>(list: ReadonlyArray<A>): A | undefined => list[at % Math.max(1, list.length)]
  if (kind === "memo")
    return Edit.memo(`k${length}`, at % 3 === 0 ? null : `memo ${at}`, { cap: 99 })
  if (kind === "fold") {
    const from = 1 + (at % Math.max(1, view.items.length))
    const ids = view.items.slice(from, from + length).map(({ id }) => id)
    return ids.length === 0
      ? undefined
      : Edit.fold(ids, at % 2 === 0 ? "[folded]" : null, view.newest!)
  }
  const ref = kind === "image" ? some(view.images) : some(view.results)
  return ref && Edit.replace(ref.block, `[${kind}]`, length > 2 ? 2 : 1)
}

describe("what is looked up in a view", () => {
  it("is taken along to the next one as if it were found anew, whatever is edited and comes", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 180 }),
        fc.array(fc.array(anEdit, { maxLength: 4 }), { minLength: 1, maxLength: 8 }),
        (steps, rounds) => {
          const context = contextOf(history(steps))
          const { transcript } = context
          let view = ViewState.plain(context)
          rounds.forEach((edits, round) => {
            // Not all of it is looked at each time.
            if (round % 2 === 0) looks(view)
            const draft = new Draft(view)
            for (const given of edits) {
              const edit = editOf(view, given)
              if (edit === undefined) continue
              const applied = draft.apply(edit)
              if (typeof applied !== "string" && given.at % 5 === 0) applied.undo()
            }
            view = draft.freeze()
            expect([...view.folds.keys()].sort()).toEqual(
              view.items.flatMap(({ id, kind }) => (kind === "fold" ? [id] : [])).sort()
            )
            expect(looks(view)).toEqual(looks(anew(view)))
            const keep = transcript.update(history(steps + round + 1))
            expect(keep).toBe(1 + steps + round)
            view = view.extend(context, keep)
            expect(looks(view)).toEqual(looks(anew(view)))
          })
        }
      )
    )
  })
})

describe("an item of a view", () => {
  const view = ViewState.plain(contextOf(history(3)))
  const text = Edit.replace(view.results[0]!.block, "[text]")
  const image = Edit.replace(view.images[0]!.block, "[image]")
  const under = (edits: ReadonlyArray<Edit.Edit>, alike?: ViewState): ViewState => {
    const draft = new Draft(view, alike)
    for (const edit of edits) expect(typeof draft.apply(edit)).toBe("object")
    return draft.freeze()
  }

  it("is not made again where another view has it under the same edits", () => {
    const both = under([text, image])
    expect(under([text, image], both).items[1]).toBe(both.items[1])
    for (const edits of [[text], [image], [image, text]])
      expect(looks(under(edits, both))).toEqual(looks(under(edits)))
  })
})
