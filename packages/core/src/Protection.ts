/** How far something is protected: `hard` from everybody, `soft` from all but the guard. */
export interface Protection {
  readonly level: "hard" | "soft"
  readonly reason: string
}
