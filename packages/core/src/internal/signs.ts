/** On a block: it stands at the tail of a request. Not enumerable, so that no copy has it. */
export const TAIL = Symbol.for("@varve/core/tail")

/** On a message: the host's shape has no room for a text beside what is there. Copies have it too. */
export const NO_ROOM = Symbol.for("@varve/core/no-room")
