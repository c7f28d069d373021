/** Pixels of an image as it is displayed: EXIF and container rotation applied. */
export interface ImageSize {
  /** px */
  readonly width: number
  /** px */
  readonly height: number
  /** From the magic bytes: png, jpeg, webp, gif, avif, heic, bmp or tiff. */
  readonly format: string
}

/** One byte of the file, NaN past its end, so that what is computed from it is NaN too. */
type Bytes = (at: number) => number

/** More than this in px, and a header is damaged or hostile. */
const LARGEST = 1_000_000
/** Steps through segments or boxes before a file is given up. */
const PATIENCE = 65_536

const SEXTETS = new Int8Array(128).fill(-1)
for (let i = 0; i < 26; i++) {
  SEXTETS[65 + i] = i
  SEXTETS[97 + i] = 26 + i
  if (i < 10) SEXTETS[48 + i] = 52 + i
}
// + and /, or - and _ in url-safe base64
SEXTETS[43] = SEXTETS[45] = 62
SEXTETS[47] = SEXTETS[95] = 63

/** Decodes single bytes where they are asked for: a header costs the same in a file of any length. */
const bytesOf = (base64: string): Bytes => {
  let text = base64
  let from = 0
  if (text.startsWith("data:")) from = text.slice(0, 256).indexOf(",") + 1
  if (/\s/.test(text.slice(from, from + 80))) {
    text = text.slice(from, from + 2 ** 18).replace(/\s+/g, "")
    from = 0
  }
  return (at) => {
    const third = Math.floor(at / 3)
    const first = from + at + third
    if (!(first + 1 < text.length)) return Number.NaN
    const a = SEXTETS[text.charCodeAt(first)] ?? -1
    const b = SEXTETS[text.charCodeAt(first + 1)] ?? -1
    const shift = 2 * (at - 3 * third)
    return a < 0 || b < 0 ? Number.NaN : ((a << (2 + shift)) | (b >> (4 - shift))) & 255
  }
}

const big = (u8: Bytes, at: number, length: number): number => {
  let value = 0
  for (let i = 0; i < length; i++) value = value * 256 + u8(at + i)
  return value
}

const little = (u8: Bytes, at: number, length: number): number => {
  let value = 0
  for (let i = length - 1; i >= 0; i--) value = value * 256 + u8(at + i)
  return value
}

const ascii = (u8: Bytes, at: number, length = 4): string => {
  let text = ""
  for (let i = 0; i < length; i++) text += String.fromCharCode(u8(at + i))
  return text
}

/** The value of one tag in the first directory of a TIFF, which EXIF is too. */
const tiffTag = (u8: Bytes, start: number, tag: number): number => {
  const number = u8(start) === 0x49 ? little : big
  const directory = start + number(u8, start + 4, 4)
  const entries = Math.min(number(u8, directory, 2), 512)
  for (let i = 0; i < entries; i++) {
    const at = directory + 2 + 12 * i
    if (number(u8, at, 2) === tag) return number(u8, at + 8, number(u8, at + 2, 2) === 4 ? 4 : 2)
  }
  return Number.NaN
}

/** Whether an EXIF orientation lies on its side. */
const turns = (orientation: number): boolean => orientation >= 5 && orientation <= 8

const size = (
  format: string,
  width: number,
  height: number,
  turned = false
): ImageSize | undefined =>
  width > 0 && height > 0 && width <= LARGEST && height <= LARGEST
    ? turned
      ? { width: height, height: width, format }
      : { width, height, format }
    : undefined

const png = (u8: Bytes): ImageSize | undefined => {
  // Apple's variant has a chunk of its own first.
  const header = big(u8, 12, 4) === 0x43674249 ? 28 : 12
  return big(u8, header, 4) === 0x49484452
    ? size("png", big(u8, header + 4, 4), big(u8, header + 8, 4))
    : undefined
}

const jpeg = (u8: Bytes): ImageSize | undefined => {
  let at = 2
  let width = 0
  let height = 0
  let orientation = 0
  let marker = u8(3)
  for (let steps = 0; steps < PATIENCE && marker >= 0; steps++, marker = u8(at + 1)) {
    // Anything may stand between segments; decoders look for the next marker.
    if (u8(at) !== 0xff || marker === 0xff || marker === 0) at++
    else if (marker === 0x01 || (marker >= 0xd0 && marker <= 0xd8)) at += 2
    else if (marker >= 0xc0 && marker !== 0xd9 && marker !== 0xda) {
      const frame = marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc
      if (frame) {
        height = big(u8, at + 5, 2)
        width = big(u8, at + 7, 2)
      } else if (marker === 0xe1 && orientation === 0 && ascii(u8, at + 4, 6) === "Exif\0\0")
        orientation = tiffTag(u8, at + 10, 0x0112)
      at += 2 + big(u8, at + 2, 2)
    } else break
  }
  return size("jpeg", width, height, turns(orientation))
}

const webp = (u8: Bytes): ImageSize | undefined => {
  switch (ascii(u8, 8, 8)) {
    case "WEBPVP8 ":
      return size("webp", little(u8, 26, 2) % 0x4000, little(u8, 28, 2) % 0x4000)
    case "WEBPVP8L": {
      const packed = little(u8, 21, 4)
      return size("webp", (packed % 0x4000) + 1, (Math.floor(packed / 0x4000) % 0x4000) + 1)
    }
    case "WEBPVP8X":
      return size("webp", little(u8, 24, 3) + 1, little(u8, 27, 3) + 1)
    default:
      return undefined
  }
}

const bmp = (u8: Bytes): ImageSize | undefined => {
  const header = little(u8, 14, 4)
  if (header === 12) return size("bmp", little(u8, 18, 2), little(u8, 20, 2))
  if (!(header >= 16 && header <= 124)) return undefined
  // A negative height means that rows are stored from the top.
  const height = little(u8, 22, 4)
  return size("bmp", little(u8, 18, 4), height < 2 ** 31 ? height : 2 ** 32 - height)
}

/** What the boxes between two offsets hold: type, first byte, end. */
const boxes = (
  u8: Bytes,
  from: number,
  to: number
): Array<[type: string, at: number, end: number]> => {
  const found: Array<[string, number, number]> = []
  for (let at = from; at < to && found.length < 4096;) {
    const short = big(u8, at, 4)
    const length = short === 1 ? big(u8, at + 8, 8) : short === 0 ? to - at : short
    const header = short === 1 ? 16 : 8
    if (!(length >= header)) break
    found.push([ascii(u8, at + 4), at + header, Math.min(to, at + length)])
    at += length
  }
  return found
}

/** AVIF and HEIC: the properties of the primary item, applied in their order. */
const heif = (u8: Bytes): ImageSize | undefined => {
  const inside = (parent: ReadonlyArray<[string, number, number]>, type: string, skip = 0) => {
    const box = parent.find((it) => it[0] === type)
    return box === undefined ? [] : boxes(u8, box[1] + skip, box[2])
  }
  const top = boxes(u8, 0, 2 ** 40)
  const meta = inside(top, "meta", 4)
  const iprp = inside(meta, "iprp")
  const properties = inside(iprp, "ipco")
  const pitm = meta.find((it) => it[0] === "pitm")?.[1] ?? Number.NaN
  const primary = big(u8, pitm + 4, u8(pitm) === 0 ? 2 : 4)
  const ipma = iprp.find((it) => it[0] === "ipma")?.[1] ?? Number.NaN
  const idBytes = u8(ipma) === 0 ? 2 : 4
  const indexBytes = u8(ipma + 3) % 2 === 1 ? 2 : 1
  const items = Math.min(big(u8, ipma + 4, 4), PATIENCE)
  let at = ipma + 8
  let width = 0
  let height = 0
  let item = 0
  for (; item < items && at >= 0 && big(u8, at, idBytes) !== primary; item++)
    at += idBytes + 1 + u8(at + idBytes) * indexBytes
  if (!(item < items)) return undefined
  const count = u8(at + idBytes)
  for (let i = 0; i < count; i++) {
    const index = big(u8, at + idBytes + 1 + i * indexBytes, indexBytes)
    if (!(index >= 0)) return undefined
    const [type, start] = properties[(index % (indexBytes === 2 ? 0x8000 : 0x80)) - 1] ?? ["", 0]
    const word = (n: number) => big(u8, start + 4 * n, 4)
    if (type === "ispe") [width, height] = [word(1), word(2)]
    else if (type === "clap")
      [width, height] = [Math.round(word(0) / word(1)), Math.round(word(2) / word(3))]
    else if (type === "irot" && u8(start) % 2 === 1) [width, height] = [height, width]
  }
  const brands = ascii(u8, 8, Math.min(128, (top[0]?.[2] ?? 8) - 8))
  return size(/avi[fs]/.test(brands) ? "avif" : "heic", width, height)
}

/**
 * Width and height of an image from the header of its base64, or `undefined` if there is none in it.
 *
 * Goes by the magic bytes, never by a declared type; takes a `data:` URI, url-safe base64 and line
 * breaks too. PNG, JPEG (EXIF rotation applied), WebP, GIF, AVIF, HEIC, BMP and TIFF; nothing else.
 * Decodes single bytes where the header is: about a microsecond for an image of any size. Never
 * fails, whatever the text is. Edges of 0 or of more than 1 000 000 px are not believed.
 *
 * @example
 * ```ts
 * import * as ImageSize from "@varve/core/ImageSize"
 *
 * console.log(ImageSize.read("R0lGODlhQAHwAIAAAP///wAAACwAAAAAQAHwAAACAkQBADs=")?.width) // => 320
 * ```
 */
export const read = (base64: string): ImageSize | undefined => {
  const u8 = bytesOf(base64)
  const magic = big(u8, 0, 4)
  if (magic === 0x89504e47) return png(u8)
  if (magic >>> 8 === 0xffd8ff) return jpeg(u8)
  if (magic === 0x52494646) return webp(u8)
  if (magic === 0x47494638) return size("gif", little(u8, 6, 2), little(u8, 8, 2))
  if (magic >>> 16 === 0x424d) return bmp(u8)
  if (magic === 0x49492a00 || magic === 0x4d4d002a)
    return size("tiff", tiffTag(u8, 0, 0x100), tiffTag(u8, 0, 0x101), turns(tiffTag(u8, 0, 0x112)))
  return big(u8, 4, 4) === 0x66747970 ? heif(u8) : undefined
}

export { read as readImageSize }
