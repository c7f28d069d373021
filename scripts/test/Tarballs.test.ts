import { createHash } from "node:crypto"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, expect, it } from "vitest"
import { serve } from "../tarballs.ts"

const folder = mkdtempSync(join(tmpdir(), "varve-tarballs-"))
afterAll(() => rmSync(folder, { recursive: true }))

it("serves a tarball as npm's registry does, never cached, and knows no other package", async () => {
  const file = join(folder, "varve-core-1.2.3.tgz")
  writeFileSync(file, "a tarball")
  const manifest = {
    name: "@varve/core",
    version: "1.2.3",
    peerDependencies: { effect: "^4.1.0" }
  }
  const registry = await serve([{ file, manifest, paths: [] }])
  try {
    // npm asks with the slash of the scope escaped.
    const response = await fetch(`${registry.url}@varve%2fcore`)
    expect(response.headers.get("cache-control")).toBe("no-store")
    const packument = await response.json()
    expect(packument["dist-tags"]).toEqual({ latest: "1.2.3" })
    const { dist, ...rest } = packument.versions["1.2.3"]
    expect(rest).toEqual(manifest)
    const body = Buffer.from(await (await fetch(dist.tarball)).arrayBuffer())
    expect(body.toString()).toBe("a tarball")
    const hash = createHash("sha512").update(body).digest("base64")
    expect(dist.integrity).toBe(`sha512-${hash}`)
    expect((await fetch(`${registry.url}@varve%2fother`)).status).toBe(404)
  } finally {
    await registry.close()
  }
})
