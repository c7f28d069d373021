import { existsSync } from "node:fs"
import { chromium, type Browser, type Page } from "playwright-core"

/** The site's address as the session shows it. The browser maps it to the port on loopback. */
export const host = "backoffice.quayside.example"

const places = [
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
  "C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe"
]

const executable = (): string => {
  const named = process.env["CHROMIUM_PATH"]
  const found = named === undefined ? places.find((place) => existsSync(place)) : named
  if (found !== undefined && existsSync(found)) return found
  throw new Error(
    named === undefined
      ? "No Chromium found. Install it (Debian, Ubuntu: `apt-get install chromium`), or set CHROMIUM_PATH to the executable of a Chromium or Chrome."
      : `CHROMIUM_PATH names ${named}, but there is no such file.`
  )
}

/** Opens a page of 1280 x 720 px that sees nothing but the site at `port`. */
export const openBrowser = async (port: number): Promise<{ browser: Browser; page: Page }> => {
  const browser = await chromium.launch({
    executablePath: executable(),
    args: [
      `--host-resolver-rules=MAP ${host} 127.0.0.1:${port}, MAP * ~NOTFOUND`,
      // The site has no TLS, and its name is a public one to the browser.
      "--disable-features=HttpsUpgrades,HttpsFirstBalancedModeAutoEnable",
      // Root in a container has no sandbox.
      ...(process.getuid?.() === 0 ? ["--no-sandbox"] : []),
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      // Equal glyphs on every machine with the same fonts.
      "--font-render-hinting=none",
      "--disable-lcd-text",
      "--force-color-profile=srgb",
      // Drawing over the last frame rounds differently from drawing anew.
      "--disable-partial-raster"
    ]
  })
  const page = await browser.newPage({
    viewport: { width: 1280, height: 720 },
    deviceScaleFactor: 1,
    locale: "en-GB",
    timezoneId: "UTC",
    colorScheme: "light",
    reducedMotion: "reduce"
  })
  page.setDefaultTimeout(5_000)
  return { browser, page }
}
