/**
 * Measures Varve beside its peers and writes one page, `bench/peers/README.md`. The peers are installed first,
 * each in a folder of its own.
 *
 * `npm run peers -- [PART...] [quick]`: only these parts are measured anew (`speed`, `cost`, `faults`,
 * `estimates`, `footprint`; `page`: none); with `quick` the small sizes alone.
 */
import { install, load, type Package } from "./Catalog.ts"
import { cost } from "./Cost.ts"
import { estimates } from "./Estimates.ts"
import { faults } from "./Faults.ts"
import { footprint } from "./Footprint.ts"
import { writePage } from "./Page.ts"
import { measure } from "./Parts.ts"
import type { Peer } from "./Peer.ts"
import { speed } from "./Speed.ts"

const given = process.argv.slice(2)
const quick = given.includes("quick")
const wanted = given.filter((name) => name !== "quick")

const { missing, there } = install()
const published: Array<readonly [Package, ReadonlyArray<Peer>]> = []
for (const one of there) published.push([one, await load(one)])
// Some packages listen for these, and this would no longer end.
for (const signal of ["SIGINT", "SIGTERM"]) process.removeAllListeners(signal)
const peers = published.flatMap(([, list]) => list).filter((peer) => peer.speedOnly !== true)

const parts: Readonly<Record<string, () => Promise<unknown>>> = {
  speed: () => speed(published, quick),
  footprint: async () => footprint(there),
  faults: () => faults(peers, quick),
  estimates: () => estimates(peers),
  cost: () => cost(peers, quick)
}
const unknown = wanted.filter((name) => name !== "page" && !Object.hasOwn(parts, name))
if (unknown.length > 0) {
  console.error(
    `No such part: ${unknown.join(", ")}. There are: ${Object.keys(parts).join(", ")}, page.`
  )
  process.exit(2)
}
for (const [name, run] of Object.entries(parts))
  if (wanted.length === 0 || wanted.includes(name)) await measure(name, quick, run)
writePage(published, missing)
process.exit(0)
