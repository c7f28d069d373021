// The published packages as tarballs, and a registry on this machine that serves them.
import { createHash } from "node:crypto"
import { mkdirSync, readFileSync, readdirSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import type { Manifest } from "./workspace.ts"
import { root, run } from "./workspace.ts"

export interface Tarball {
  readonly file: string
  /** package.json as it is packed: versions in the place of `workspace:` and `catalog:`. */
  readonly manifest: Manifest
  /** Paths in it, without the leading `package/`. */
  readonly paths: ReadonlyArray<string>
}

/** Packs every package with the repo's own pnpm. Rejects with what pnpm or tar said. */
export const pack = async (folder: string): Promise<ReadonlyArray<Tarball>> => {
  const { packageManager } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    readonly packageManager: string
  }
  mkdirSync(folder, { recursive: true })
  const filter = ["-r", "--filter", "./packages/*", "pack", "--pack-destination", folder]
  const packed = await run("npx", ["-y", packageManager, ...filter])
  if (packed.code !== 0) throw new Error(packed.output)
  const files = readdirSync(folder).filter((name) => name.endsWith(".tgz"))
  return Promise.all(files.toSorted().map((name) => tarballOf(join(folder, name))))
}

const tarballOf = async (file: string): Promise<Tarball> => {
  const manifest = await run("tar", ["-xzOf", file, "package/package.json"])
  const list = await run("tar", ["-tzf", file])
  for (const { code, output } of [manifest, list]) if (code !== 0) throw new Error(output)
  const paths = list.output.trim().split("\n")
  return {
    file,
    manifest: JSON.parse(manifest.output) as Manifest,
    paths: paths.map((path) => path.replace(/^package\//, ""))
  }
}

/** What npm asks a registry for: the versions of a package, each with where it is and its hash. */
const packument = ({ file, manifest }: Tarball, at: string) => ({
  name: manifest.name,
  "dist-tags": { latest: manifest.version },
  versions: {
    [manifest.version]: {
      ...manifest,
      dist: {
        tarball: `${at}/${manifest.name}/-/${manifest.version}.tgz`,
        integrity: `sha512-${createHash("sha512").update(readFileSync(file)).digest("base64")}`
      }
    }
  }
})

/**
 * Serves tarballs as npm's registry does, on a free port of the loopback address. Nothing may be cached: another
 * run has other tarballs under the same versions.
 */
export const serve = async (tarballs: ReadonlyArray<Tarball>) => {
  const byName = new Map(tarballs.map((tarball) => [tarball.manifest.name, tarball]))
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url ?? "").slice(1)
    const [name = "", version] = path.split("/-/")
    const tarball = byName.get(name)
    const headers = { "cache-control": "no-store" }
    if (tarball === undefined) {
      response.writeHead(404, { ...headers, "content-type": "application/json" }).end("{}")
    } else if (version === undefined) {
      const at = `http://${request.headers.host}`
      response
        .writeHead(200, { ...headers, "content-type": "application/json" })
        .end(JSON.stringify(packument(tarball, at)))
    } else {
      response
        .writeHead(200, { ...headers, "content-type": "application/octet-stream" })
        .end(readFileSync(tarball.file))
    }
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  server.unref()
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/`,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      })
  }
}
