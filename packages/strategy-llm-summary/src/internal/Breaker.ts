/** When a breaker opens, and for how long. */
export interface BreakerOptions {
  /** Failed calls in a row that open it. */
  readonly failures: number
  /** ms that it stays open the first time. Doubles with each failed try. */
  readonly cooldown: number
  /** Longest cooldown in ms. */
  readonly maxCooldown: number
}

/** How a call was let through: `try` is the one that decides whether an open breaker closes. */
export type Pass = "call" | "try"

/** A circuit breaker: after failures in a row it lets nothing through for a while, then one try at a time. */
export class Breaker {
  readonly #options: BreakerOptions
  #failures = 0
  #opened = 0
  #until = 0
  #trying = false

  constructor(options: BreakerOptions) {
    this.#options = options
  }

  get #open(): boolean {
    return this.#failures >= this.#options.failures
  }

  /** Whether a call would be let through now. */
  allows(now: number): boolean {
    return !this.#open || (!this.#trying && now >= this.#until)
  }

  pass(now: number): Pass | undefined {
    if (!this.allows(now)) return undefined
    if (!this.#open) return "call"
    this.#trying = true
    return "try"
  }

  /** Takes how a call ended; `undefined` where that says nothing of the model, as when it was aborted. */
  settle(pass: Pass, success: boolean | undefined, now: number): void {
    if (pass === "try") this.#trying = false
    if (success === true) {
      this.#failures = 0
      this.#opened = 0
    } else if (success === false && (pass === "try" || !this.#open)) {
      this.#failures++
      const { cooldown, maxCooldown } = this.#options
      if (this.#open)
        this.#until = now + Math.min(maxCooldown, cooldown * 2 ** Math.min(this.#opened++, 30))
    }
  }
}
