import { mkdirSync } from "node:fs"
import { dirname, resolve } from "node:path"
import sharp from "sharp"

interface Shown {
  readonly name: string
  readonly messages: ReadonlyArray<unknown>
}

interface Cell {
  readonly image: Buffer
  readonly width: number
  readonly height: number
  readonly label: string
}

const CELL = 512
const COLUMNS = 4
const LABEL = 22
const GAP = 8

const escape = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")

const label = (text: string, size: number): Buffer =>
  Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" width="${CELL * COLUMNS}" height="${size + 6}">` +
      `<text x="2" y="${size}" font-family="sans-serif" font-size="${size}">${escape(text)}</text></svg>`
  )

/** The images that messages still show, each as the model gets it; larger ones scaled for the sheet only. */
const cellsOf = async (messages: ReadonlyArray<unknown>): Promise<ReadonlyArray<Cell>> => {
  const cells: Array<Cell> = []
  for (const message of messages) {
    const { content } = message as { readonly content?: unknown }
    if (!Array.isArray(content)) continue
    for (const block of content as ReadonlyArray<Record<string, unknown>>) {
      if (block["type"] !== "image" || typeof block["data"] !== "string") continue
      const bytes = Buffer.from(block["data"], "base64")
      const { height, width } = await sharp(bytes).metadata()
      const { data, info } = await sharp(bytes)
        .resize({ width: CELL, height: CELL, fit: "inside", withoutEnlargement: true })
        .png()
        .toBuffer({ resolveWithObject: true })
      cells.push({
        image: data,
        width: info.width,
        height: info.height,
        label: `${width}x${height}, ${Math.round(bytes.length / 1024)} KB ${String(block["mimeType"])}`
      })
    }
  }
  return cells
}

/** Writes a PNG that shows the images of each session's last request. */
export const writeSheet = async (path: string, sessions: ReadonlyArray<Shown>): Promise<void> => {
  const layers: Array<{ readonly input: Buffer; readonly left: number; readonly top: number }> = []
  let top = GAP
  for (const { messages, name } of sessions) {
    layers.push({ input: label(name, 20), left: GAP, top })
    top += 32
    const cells = await cellsOf(messages)
    for (let from = 0; from < cells.length; from += COLUMNS) {
      const row = cells.slice(from, from + COLUMNS)
      row.forEach(({ image, label: text }, i) => {
        const left = GAP + i * (CELL + GAP)
        layers.push({ input: label(text, 13), left, top }, { input: image, left, top: top + LABEL })
      })
      top += LABEL + GAP + Math.max(...row.map(({ height }) => height))
    }
    top += GAP
  }
  mkdirSync(dirname(resolve(path)), { recursive: true })
  const width = (COLUMNS + 1) * (CELL + GAP)
  await sharp({ create: { width, height: top + GAP, channels: 3, background: "#ddd" } })
    .composite(layers)
    .png()
    .toFile(path)
}
