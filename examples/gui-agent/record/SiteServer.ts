import { readFile } from "node:fs/promises"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { extname, join } from "node:path"

const folder = join(import.meta.dirname, "../site")
const types: Record<string, string> = {
  ".html": "text/html; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".js": "text/javascript; charset=utf-8"
}

export interface SiteServer {
  readonly port: number
  readonly close: () => Promise<void>
}

/**
 * Serves `site/` on loopback, at a free port. The first save of the settings fails with 503, as
 * the script of the session expects; every later one works.
 */
export const startSite = async (): Promise<SiteServer> => {
  let saves = 0
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://site")
    if (pathname === "/api/settings") {
      saves++
      response.writeHead(saves === 1 ? 503 : 204).end()
      return
    }
    // Flat on purpose: a name of one part can't leave the folder.
    const name = pathname === "/" ? "index.html" : pathname.slice(1)
    const type = types[extname(name)]
    const body =
      type !== undefined && /^[a-z0-9]+\.[a-z]+$/.test(name)
        ? await readFile(join(folder, name)).catch(() => undefined)
        : undefined
    if (body === undefined || type === undefined) {
      response.writeHead(404, { "content-type": types[".html"] })
      response.end(await readFile(join(folder, "404.html")))
      return
    }
    response.writeHead(200, { "content-type": type }).end(body)
  })
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject)
    server.listen(0, "127.0.0.1", resolve)
  })
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      })
  }
}
