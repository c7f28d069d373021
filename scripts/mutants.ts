// Deliberate faults in core for mutate.ts: each replaces one text that stands once in its file.

/** One fault, and the tests that should see it. */
export interface Mutant {
  /** What is wrong then. */
  readonly fault: string
  /** Below `packages/core/src`. */
  readonly file: string
  readonly find: string
  readonly put: string
  /** Below `packages/core/test`, without `.test.ts`; default: the invariants. */
  readonly tests?: ReadonlyArray<string>
}

const invariants = ["Invariants.property"]
const guard = ["HardLimit.property", ...invariants]

export const mutants: ReadonlyArray<Mutant> = [
  // Protection
  {
    fault: "system messages are not protected",
    file: "internal/protect.ts",
    find: 'if (role === "system") return SYSTEM',
    put: ""
  },
  {
    fault: "unknown roles are not protected",
    file: "internal/protect.ts",
    find: "if (isUnknownRole(role)) return UNKNOWN",
    put: ""
  },
  {
    fault: "the task's text is not protected",
    file: "internal/protect.ts",
    find: 'if (block?.type === "text" && isTask(context, entry)) return TASK',
    put: ""
  },
  {
    fault: "the group of the task is not protected",
    file: "internal/protect.ts",
    find: "if (isTask(context, entry) && hasText(entry)) return TASK",
    put: ""
  },
  {
    fault: "pins by the host's id are not seen",
    file: "internal/protect.ts",
    find: " || (entry.hostId !== undefined && pins.has(entry.hostId))",
    put: ""
  },
  {
    fault: "the newest screenshot is not protected",
    file: "internal/protect.ts",
    find: "if (id === transcript.totals.newestImage) return NEWEST_IMAGE",
    put: ""
  },
  {
    fault: "results that the model has not seen are not protected",
    file: "internal/protect.ts",
    find: "group.index === last && group.entries.at(-1)",
    put: "group.index > last && group.entries.at(-1)"
  },
  {
    fault: "the newest user message is not protected",
    file: "internal/protect.ts",
    find: "(e) => e.id === transcript.totals.newestUser",
    put: "(e) => e.id + 1 === transcript.totals.newestUser"
  },
  {
    fault: "one group less than asked for is protected",
    file: "internal/protect.ts",
    find: "group.index > last - protectLast",
    put: "group.index > last - protectLast + 1",
    tests: ["Protection"]
  },
  {
    fault: "anybody may touch what is softly protected",
    file: "internal/gate.ts",
    find: `  const protection = protectionOf(context, edit.block)
  if (protection !== undefined && !(guard && protection.level === "soft"))`,
    put: `  const protection = protectionOf(context, edit.block)
  if (protection !== undefined && protection.level !== "soft")`,
    tests: ["Gate", ...invariants]
  },

  // The gate
  {
    fault: "an edit may grow the view",
    file: "internal/gate.ts",
    find: 'if (grows || delta.images > 0 || delta.imageBytes > 0) return "it would grow"',
    put: ""
  },
  {
    fault: "growing images are not seen",
    file: "internal/gate.ts",
    find: "if (grows || delta.images > 0 || delta.imageBytes > 0)",
    put: "if (grows)",
    tests: ["Gate", ...invariants]
  },
  {
    fault: "a message may end up empty",
    file: "internal/gate.ts",
    find: 'return item?.messages.some(isEmptied) === true ? "its message would be empty" : undefined',
    put: "return item === null ? undefined : undefined"
  },
  {
    fault: "a call may be replaced by one of another id",
    file: "internal/gate.ts",
    find: "call.id === from.id &&",
    put: "",
    tests: ["Gate", ...invariants]
  },
  {
    fault: "reasoning may be rewritten",
    file: "internal/gate.ts",
    find: 'if (type === "thinking" && to.length > 0)',
    put: 'if (type === "thinking" && to.length > 99)',
    tests: ["Gate", ...invariants]
  },
  {
    fault: "a call may come to stand right behind an answer",
    file: "internal/gate.ts",
    find: "draft.base.profile.alternates === true && draft.crowds(edit)",
    put: "false",
    tests: ["Alternation"]
  },
  {
    fault: "a memo may be over its cap",
    file: "internal/gate.ts",
    find: "memo !== undefined && memo.tokens > edit.cap",
    put: "memo !== undefined && memo.tokens > edit.cap * 9",
    tests: ["Gate", ...invariants]
  },
  {
    fault: "a fold may save nothing",
    file: "internal/gate.ts",
    find: "before + delta.tokens > FOLD_SHARE * before",
    put: "before + delta.tokens < FOLD_SHARE * before * 0",
    tests: ["Gate"]
  },
  {
    fault: "calls without a result are not protected",
    file: "internal/protect.ts",
    find: "if (group.open.length > 0) return UNANSWERED",
    put: "",
    tests: ["Protection", ...invariants]
  },
  {
    fault: "a refused edit is not taken back",
    file: "internal/gate.ts",
    find: "    applied.undo()\n    return bad",
    put: "    return bad"
  },
  {
    fault: "the ledger keeps the strategy's own objects",
    file: "internal/gate.ts",
    find: "    edit = copy(proposed, draft.base.profile)",
    put: "    edit = copy(proposed, draft.base.profile) && proposed"
  },
  {
    fault: "an atomic proposal may stand in part",
    file: "internal/propose.ts",
    find: "for (const done of edits.reverse()) done.undo()\n      return []",
    put: "return edits",
    tests: ["Gate", ...invariants]
  },

  // The draft: what an edit does
  {
    fault: "a block can go up the ladder again",
    file: "internal/Draft.ts",
    find: "depthOf(current) >= depthOf(edit)",
    put: "depthOf(current) > depthOf(edit) + 9",
    tests: ["Draft", ...invariants]
  },
  {
    fault: "the sums forget what a fold took away",
    file: "internal/Draft.ts",
    find: "if (old != null) delta = less(delta, costOf(old))",
    put: "if (old == null) delta = less(delta, costOf(item!))"
  },
  {
    fault: "undoing leaves the sums as they were",
    file: "internal/Draft.ts",
    find: `        if (fold !== undefined) this.#folds.delete(fold.id)
        this.#totals = totals`,
    put: `        if (fold !== undefined) this.#folds.delete(fold.id)`
  },
  {
    fault: "a fold stands where its last item stood",
    file: "internal/Draft.ts",
    find: "slots.map((slot, i) => [slot, i === 0 ? fold : null] as const)",
    put: "slots.toReversed().map((slot, i) => [slot, i === 0 ? fold : null] as const)",
    tests: ["Draft", ...invariants]
  },
  {
    fault: "a fold applies though its basis is gone",
    file: "internal/Draft.ts",
    find: 'if (basis === undefined) return "its basis is gone"',
    put: 'if (basis === undefined) return this.#memo({ kind: "memo", key: "gone", text: "gone", basis: null, cap: 9 })'
  },
  {
    fault: "an edited message's bytes are counted twice",
    file: "internal/items.ts",
    find: "bytes += messageBytes(message) - entry.facts.bytes",
    put: "bytes += messageBytes(message)",
    tests: ["Draft", "RequestBytes"]
  },

  // The transcript: pairs and identity
  {
    fault: "a result of no call is kept",
    file: "internal/readGroup.ts",
    find: 'else if (message.role === "toolResult") mend(at, LOOSE)\n      else if ((message.role === "user"',
    put: 'else if ((message.role === "user"'
  },
  {
    fault: "a second result of one call is kept",
    file: "internal/readGroup.ts",
    find: "if (answered < 0) mend(at, LOOSE)",
    put: "if (answered < 0) { if (calls.includes(String(message.toolCallId))) parts.push({ message, at }); else mend(at, LOOSE) }",
    tests: ["Transcript", ...invariants]
  },
  {
    fault: "a call without a result is left open",
    file: "internal/readGroup.ts",
    find: "parts.splice(direct++, 0, { message: this.#placeholder(head.message, nth), at: -1 })",
    put: ""
  },
  {
    fault: "a result behind other messages is not found",
    file: "internal/readGroup.ts",
    find: "while (waiting.length > 0 && at < raw.length) {",
    put: "while (waiting.length > 99 && at < raw.length) {"
  },
  {
    fault: "an empty message of the host is sent",
    file: "internal/readGroup.ts",
    find: "} else break\n    }\n    if (at < raw.length) {",
    put: "}\n      break\n    }\n    if (at < raw.length) {"
  },
  {
    fault: "equal messages have one id",
    file: "Transcript.ts",
    find: '(nth === 0 ? "" : "#" + nth)',
    put: '""'
  },
  {
    fault: "an unfinished call's results stay without it",
    file: "internal/readGroup.ts",
    find: '(p) => p.message !== head && p.message.role !== "toolResult"',
    put: "(p) => p.message !== head"
  },

  // The views between requests
  {
    fault: "a new message is not seen",
    file: "internal/ViewState.ts",
    find: "for (let g = keep; g < groups.length; g++) {",
    put: "for (let g = keep + 1; g < groups.length; g++) {"
  },
  {
    fault: "an older view is extended though edits lie behind the change",
    file: "internal/replay.ts",
    find: "if (view === undefined || !canExtend(view, context, ledger, keep))",
    put: "if (view === undefined)"
  },
  {
    fault: "memos stand before the task",
    file: "internal/ViewState.ts",
    find: "this.list.at(i)!.first <= first) i++",
    put: "this.list.at(i)!.first < first) i++",
    tests: ["Draft"]
  },

  // The guard
  {
    fault: "the guard stops one token above the limit",
    file: "internal/limits.ts",
    find: "if (needed > limit) over.push",
    put: "if (needed > limit + 1) over.push",
    tests: guard
  },
  {
    fault: "the guard goes no lower than the limit",
    file: "HardLimit.ts",
    find: "const low = targetOf(view, lowWater)",
    put: "const low = targetOf(view, 1)",
    tests: guard
  },
  {
    fault: "the guard puts nothing back",
    file: "HardLimit.ts",
    find: "if (isMet(low)) return minimal(view, accepted, unfit, low)",
    put: "if (isMet(low)) return accepted",
    tests: guard
  },
  {
    fault: "the guard puts back too much",
    file: "HardLimit.ts",
    find: "if (without !== undefined && meets(view, without.totals, target)) kept = without",
    put: "if (without !== undefined) kept = without",
    tests: guard
  },
  {
    fault: "the guard looks only once at what it may put back",
    file: "HardLimit.ts",
    find: "    if (next === kept) return",
    put: "    if (next !== undefined) return",
    tests: guard
  },
  {
    fault: "an answer to an overflow is tried again though nothing can be made smaller",
    file: "internal/MemoryImpl.ts",
    find: "if (futile?.kind === overflow.kind) return Effect.fail(futile.error)",
    put: "",
    tests: ["Futile"]
  },
  {
    fault: "a guard that makes nothing smaller is not said to be futile",
    file: "internal/walk.ts",
    find: "(left.get(axis) ?? 0) >= needed",
    put: "(left.get(axis) ?? 0) > needed",
    tests: ["Futile"]
  },
  {
    fault: "a counter's NaN switches the limits off",
    file: "internal/count.ts",
    find: " && Number.isFinite(n) && n >= 0",
    put: "",
    tests: ["CounterFaults"]
  },
  {
    fault: "the guard begins with what is softly protected",
    file: "HardLimit.ts",
    find: "if (textHelps(low)) down(textRungs(view, draft), low)",
    put: "down(softRungs(view, draft, limit.tokens), low)",
    tests: guard
  },
  {
    fault: "the guard never takes whole groups",
    file: "internal/rungs.ts",
    find: "  if (basis === undefined) return\n  const ids",
    put: '  if (basis === undefined || basis !== "") return\n  const ids',
    tests: guard
  },
  {
    fault: "the guard never goes to its last rung",
    file: "HardLimit.ts",
    find: "if (textHelps(limit)) down(lastRungs(view, draft), limit)",
    put: "",
    tests: guard
  },
  {
    fault: "too large images are passed over",
    file: "HardLimit.ts",
    find: "if (!fitting(image, limits.maxEdge)) unfit.add(image.block)",
    put: "",
    tests: guard
  },
  {
    fault: "images are not counted against their limit",
    file: "HardLimit.ts",
    find: "  totals.images <= target.images &&\n",
    put: "",
    tests: guard
  },
  {
    fault: "system text and tools are not counted",
    file: "internal/ViewState.ts",
    find: "withCost(this.totals, this.tail).tokens + this.context.overheadTokens",
    put: "withCost(this.totals, this.tail).tokens",
    tests: guard
  },

  // Commit
  {
    fault: "what is in force is sent from the other side of the cut",
    file: "internal/commit.ts",
    find: "staged.filter((s) => s.position >= first)",
    put: "staged.filter((s) => s.position <= cut)",
    tests: ["Commit", ...invariants]
  },
  {
    fault: "over a limit the staged edits still wait for the rule",
    file: "internal/commit.ts",
    find: "if (over !== undefined) {\n    decision",
    put: "if (over === null) {\n    decision",
    tests: ["Commit", ...invariants]
  },
  {
    fault: "a batch is one edit too large",
    file: "Commit.ts",
    find: "return edits >= size",
    put: "return edits > size",
    tests: ["Batched"]
  },
  {
    fault: "the price of writing is taken for that of reading",
    file: "internal/pays.ts",
    find: "Math.max(0, cacheWrite - cacheRead)",
    put: "Math.max(0, cacheRead - cacheRead)",
    tests: ["Commit"]
  },

  // Reasoning
  {
    fault: "bound reasoning behind an edit stays",
    file: "internal/walk.ts",
    find: 'if (profile.reasoning !== "none") {',
    put: 'if (profile.reasoning === "drop") {',
    tests: ["Restart.property", "Reasoning"]
  },

  // What is saved
  {
    fault: "an accepted edit is not written down",
    file: "internal/Session.ts",
    find: "this.journal.push(editLine(record))",
    put: ""
  },
  {
    fault: "a commit is not written down",
    file: "internal/Session.ts",
    find: 'this.journal.push({ t: "commit", seqs: [...seqs] })',
    put: ""
  },
  {
    fault: "a pin is not written down",
    file: "internal/Session.ts",
    find: "this.journal.push({ t, id })",
    put: "",
    tests: ["Restart.property"]
  },
  {
    fault: "a restored session forgets what is in force",
    file: "Ledger.ts",
    find: 'if (record !== undefined) records.set(seq, { ...record, state: "in force" })',
    put: "",
    tests: ["Ledger", ...invariants]
  },
  {
    fault: "compacting a journal drops the edit that counts",
    file: "Ledger.ts",
    find: "if ((rank.get(edit.block) ?? 0) >= edit.rank) continue",
    put: "if ((rank.get(edit.block) ?? 9) >= edit.rank) continue",
    tests: ["Ledger", ...invariants]
  },

  // Boxing
  {
    fault: "a strategy that fails stops the run",
    file: "internal/box.ts",
    find: "if (Exit.isFailure(exit)) return",
    put: "if (Exit.isFailure(exit)) throw new Error(String(exit.cause))\n  if (Exit.isFailure(exit)) return",
    tests: invariants
  },
  // What a host's history lacks, and what stands between two messages of the assistant
  {
    fault: "of calls with an empty id only the first stays",
    file: "internal/facts.ts",
    find: 'block.id !== "" && nth > 0 && nth >= answers(block.id)',
    put: "nth > 0",
    tests: ["Transcript"]
  },
  {
    fault: "a second result of an id answers no call",
    file: "internal/readGroup.ts",
    find: "waiting.splice(answered, 1)",
    put: "waiting.splice(answered, 2)",
    tests: ["Transcript"]
  },
  {
    fault: "a call is left right behind another message of the assistant",
    file: "internal/Draft.ts",
    find: "gone !== undefined && hasCalls(gone) && behind(from)",
    put: "gone !== undefined && behind(from)",
    tests: ["Alternation"]
  },
  {
    fault: "reasoning stays behind a memo that the guard has taken away",
    file: "internal/walk.ts",
    find: "if (memoText(sent) !== memoText(view)) from =",
    put: "if (false as boolean) from =",
    tests: ["Reasoning"]
  },
  {
    fault: "a text refused at once is not asked for again",
    file: "ConversationSummary.ts",
    find: "(again && !sameIds(ids, aim.ids))",
    put: "(false as boolean)",
    tests: ["ConversationSummary"]
  }
]
