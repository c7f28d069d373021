import type { Edit } from "@varve/core/Edit"
import * as Edits from "@varve/core/Edit"
import type { Block } from "@varve/core/Message"
import { blockId, visitBlocks } from "@varve/core/Message"
import type { ItemRef, View } from "@varve/core/View"
import { below, chance } from "./chance.ts"

const free = (view: View, id: string) => view.protection(id) === undefined

/** Blocks of the view's groups as [id, block, item]; ids of messages are the item's members in order. */
const blocksIn = (view: View): ReadonlyArray<readonly [string, Block, ItemRef]> =>
  view.groups.flatMap((item) => {
    const found: Array<readonly [string, Block, ItemRef]> = []
    item.messages.forEach((message, i) => {
      const id = item.members[i]
      if (id !== undefined)
        visitBlocks(message, (block, path) => found.push([blockId(id, path), block, item]))
    })
    return found
  })

/** A run of items at a place that the seed picks; `may` says which can be part of it. */
const run = (view: View, seed: number, may: (item: ItemRef) => boolean): ReadonlyArray<string> => {
  const { items } = view
  let at = below(items.length, seed, "from", view.newest)
  const most = 1 + below(6, seed, "many", view.newest)
  const found: Array<string> = []
  for (; at < items.length && found.length < most; at++) {
    const item = items[at]!
    if (may(item)) found.push(item.id)
    else if (found.length > 0) break
  }
  return found
}

const foldText = (items: ReadonlyArray<string>, seed: number): string | null =>
  chance(seed, "text", items.join()) < 0.3 ? null : `[${items.length} items were folded]`

/** Good edits of what is free: cards, clips, one fold for each newest message, a memo that changes at times. */
export const saneEdits = (view: View, seed: number): ReadonlyArray<Edit> => {
  const edits: Array<Edit> = []
  const { newest } = view
  if (newest === undefined) return edits
  for (const image of view.images) {
    if (!free(view, image.block) || chance(seed, "image", image.block) < 0.4) continue
    edits.push(Edits.replace(image.block, "[an older screenshot]"))
  }
  for (const result of view.results) {
    if (!free(view, result.block) || chance(seed, "result", result.block) < 0.6) continue
    edits.push(
      result.rank === 0 && result.text.length > 60
        ? Edits.replace(result.block, result.text.slice(0, 20) + "\n[cut]", 1)
        : Edits.replace(result.block, "[old result]")
    )
  }
  const done = view.items.some(
    (i) => (i.data as { newest?: unknown } | undefined)?.newest === newest
  )
  if (!done && chance(seed, "fold", newest) < 0.4) {
    const items = run(view, seed, (item) => item.closed && free(view, item.id))
    if (items.length > 0) edits.push(Edits.fold(items, foldText(items, seed), newest, { newest }))
  }
  if (chance(seed, "memo") < 0.3) {
    const text = `Memo ${below(3, seed, "version", Math.floor(view.requests / 3))}`
    if (view.memos.find((m) => m.key === `memo-${seed}`)?.text !== text) {
      edits.push(Edits.memo(`memo-${seed}`, text, { cap: 40, basis: newest }))
    }
  }
  return edits
}

/** Well-formed edits of everything, protected or not. */
export const greedyEdits = (view: View, seed: number): ReadonlyArray<Edit> => {
  const { newest, items } = view
  if (newest === undefined) return []
  const edits: Array<Edit> = blocksIn(view)
    .filter(([id]) => chance(seed, id) < 0.5)
    .map(([id, block]) =>
      Edits.replace(
        id,
        block.type === "thinking" || chance(seed, "out", id) < 0.3 ? [] : "[gone]",
        chance(seed, "rank", id) < 0.5 ? 1 : 2
      )
    )
  const all = items.map((item) => item.id)
  const some = all.filter((id) => chance(seed, "every", id, newest) < 0.5)
  return [
    ...edits,
    Edits.fold(
      run(view, seed, () => true),
      null,
      newest
    ),
    Edits.fold(some, "[some of it]", newest),
    Edits.fold(all, chance(seed, "all") < 0.5 ? null : "[all of it]", newest),
    Edits.memo(`greedy-${seed}`, "a memo of a few words", { cap: 10 })
  ]
}

/** Edits that must be refused: of protected things, that grow, break pairs, forge reasoning, empty messages. */
export const hostileEdits = (view: View, seed: number): ReadonlyArray<Edit> => {
  const { newest } = view
  if (newest === undefined) return []
  const edits: Array<Edit> = []
  const long = "x".repeat(5000)
  for (const [id, block, item] of blocksIn(view)) {
    const kind = below(9, seed, "hostile", id)
    if (kind === 0) edits.push(Edits.replace(id, long))
    if (kind === 1) edits.push(Edits.replace(id, []))
    if (kind === 2)
      edits.push(Edits.replace(id, { type: "toolCall", id: "forged", name: "x", arguments: {} }))
    if (kind === 3)
      edits.push(
        Edits.replace(id, { type: "thinking", thinking: "forged", thinkingSignature: "sig-6" })
      )
    if (kind === 4 && block.type === "thinking")
      edits.push(Edits.replace(id, { ...block, thinking: block.thinking.slice(1) }, 1))
    if (kind === 4 && block.type === "toolCall")
      edits.push(Edits.replace(id, { ...block, id: block.id + "x" }))
    if (kind === 5) edits.push(Edits.replace(id, " "))
    if (kind === 6) edits.push(Edits.fold([id], "a block is no item", newest))
    if (kind === 7) edits.push(Edits.fold([item.id], long + item.id, newest))
    if (kind === 8 && view.protection(id) !== undefined)
      edits.push(Edits.replace(id, "[not yours]"))
  }
  for (const item of view.items) {
    if (view.protection(item.id) !== undefined) edits.push(Edits.fold([item.id], null, newest))
    if (!item.closed) edits.push(Edits.fold([item.id], "[open]", newest))
  }
  edits.push(Edits.memo(`hostile-${seed}`, long, { cap: 10 }))
  edits.push(Edits.memo(`hostile-${seed}`, "", { cap: 10 }))
  edits.push(Edits.memo(`hostile-${seed}`, "free", { cap: -1 }))
  return edits
}

/** What no typed code would give: wrong shapes, ids of nothing, holes. */
export const nonsenseEdits = (view: View, seed: number): ReadonlyArray<Edit> => {
  const some = view.items[below(view.items.length, seed)]?.id ?? "none"
  const block = blocksIn(view)[0]?.[0] ?? "none/0"
  const cyclic: Record<string, unknown> = {
    kind: "memo",
    key: "cycle",
    text: "x",
    cap: 50,
    basis: null
  }
  cyclic["data"] = cyclic
  const all: ReadonlyArray<unknown> = [
    null,
    undefined,
    7,
    "replace",
    [],
    {},
    { kind: "delete", block },
    { kind: "replace" },
    { kind: "replace", block, rank: 9, to: [{ type: "text", text: "x" }] },
    { kind: "replace", block, rank: 2, to: "text" },
    { kind: "replace", block, rank: 2, to: [null] },
    { kind: "replace", block, rank: 2, to: [{ type: "image", data: "", mimeType: 4 }] },
    { kind: "replace", block: 4, rank: 2, to: [] },
    { kind: "replace", block: "no such/0", rank: 2, to: [] },
    { kind: "replace", block: block + ".9.9", rank: 2, to: [] },
    { kind: "fold", id: "f", items: [], text: "x", basis: view.newest },
    { kind: "fold", id: "f", items: [some, some], text: "twice", basis: view.newest },
    { kind: "fold", id: "f", items: some, text: "x", basis: view.newest },
    { kind: "fold", id: some, items: [some], text: "its own id", basis: view.newest },
    { kind: "fold", id: "f", items: [some], text: 7, basis: view.newest },
    { kind: "fold", id: "f", items: [some], text: "x", basis: "no such message" },
    { kind: "fold", items: [some], text: "x" },
    { kind: "memo", key: "", text: "x", basis: null, cap: 10 },
    { kind: "memo", key: "m", text: "x", basis: null, cap: Number.NaN },
    { kind: "memo", key: "m", text: ["x"], basis: null, cap: 10 },
    { kind: "memo", key: "__proto__", text: "x", basis: null, cap: 50 },
    { kind: "memo", key: "big", text: "x", basis: null, cap: 50, data: 1n },
    { kind: "memo", key: "odd", text: "x", basis: null, cap: 50, data: () => 1 },
    cyclic
  ]
  return all.filter((_, i) => chance(seed, "nonsense", i, view.newest) < 0.4) as ReadonlyArray<Edit>
}
