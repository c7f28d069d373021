/** Where sessions are saved, as a service with two layers. */
import type { Store } from "@varve/core"
import { fileStore, memoryStore } from "@varve/core"
import * as Context from "effect/Context"
import * as Layer from "effect/Layer"

export class Sessions extends Context.Service<Sessions, Store>()("varve-examples/Sessions") {
  static readonly inMemory = Layer.sync(Sessions, memoryStore)
  static readonly inFolder = (folder: string) => Layer.sync(Sessions, () => fileStore(folder))
}
