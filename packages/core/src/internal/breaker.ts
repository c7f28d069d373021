import type { BreakerOptions } from "../Policy.ts"

/** A circuit breaker's state. Half-open once the cooldown is over: one try decides. */
export interface Breaker {
  readonly allows: (now: number) => boolean
  readonly settle: (success: boolean, now: number) => void
}

export const makeBreaker = ({
  failures = 3,
  cooldown = 60_000,
  maxCooldown = 600_000
}: BreakerOptions): Breaker => {
  let inARow = 0
  let opened = 0
  let until = 0
  return {
    allows: (now) => inARow < failures || now >= until,
    settle: (success, now) => {
      if (success) {
        inARow = 0
        opened = 0
      } else if (++inARow >= failures) {
        until = now + Math.min(maxCooldown, cooldown * 2 ** Math.min(opened++, 30))
      }
    }
  }
}
