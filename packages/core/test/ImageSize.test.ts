import { dataDir, requireData } from "@varve-examples/session-readers/Data"
import fc from "fast-check"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import sharp from "sharp"
import { describe, expect, it } from "vitest"
import * as ImageSize from "../src/ImageSize.ts"

const base64 = (...parts: ReadonlyArray<Uint8Array | string>): string =>
  Buffer.concat(
    parts.map((part) => (typeof part === "string" ? Buffer.from(part, "latin1") : part))
  ).toString("base64")

/** A number as bytes, the biggest first. */
const be = (value: number, length: number): Buffer => {
  const bytes = Buffer.alloc(length)
  bytes.writeUIntBE(value, 0, length)
  return bytes
}
const le = (value: number, length: number): Buffer => Buffer.from(be(value, length).toReversed())

const blank = (width: number, height: number) =>
  sharp({ create: { width, height, channels: 3, background: "#369" } })

/** A JPEG segment with its length. */
const segment = (marker: number, ...parts: ReadonlyArray<Uint8Array | string>): Buffer => {
  const body = Buffer.from(base64(...parts), "base64")
  return Buffer.concat([be(0xff00 + marker, 2), be(body.length + 2, 2), body])
}

/** EXIF with two tags, the second of them the orientation. */
const exif = (orientation: number, order: "II" | "MM"): Buffer => {
  const n = order === "II" ? le : be
  const entry = (tag: number, value: number) =>
    Buffer.concat([n(tag, 2), n(3, 2), n(1, 4), n(value, 2), n(0, 2)])
  return segment(
    0xe1,
    "Exif\0\0",
    order,
    n(42, 2),
    n(8, 4),
    n(2, 2),
    entry(0x0103, 6),
    entry(0x0112, orientation),
    n(0, 4)
  )
}

const withSegments = (jpeg: Buffer, ...segments: ReadonlyArray<Buffer>): Buffer =>
  Buffer.concat([jpeg.subarray(0, 2), ...segments, jpeg.subarray(2)])

/** An ISO box with its size. */
const box = (type: string, ...parts: ReadonlyArray<Uint8Array | string>): Buffer => {
  const body = Buffer.from(base64(...parts), "base64")
  return Buffer.concat([be(body.length + 8, 4), Buffer.from(type), body])
}
const full = (version: number, flags = 0) => Buffer.concat([be(version, 1), be(flags, 3)])
const ftyp = box("ftyp", "heic", be(0, 4), "mif1heic")
const ispe = (width: number, height: number) => box("ispe", full(0), be(width, 4), be(height, 4))
const meta = (properties: ReadonlyArray<Buffer>, ...used: ReadonlyArray<number>): Buffer =>
  box(
    "meta",
    full(0),
    box("pitm", full(0), be(2, 2)),
    box(
      "iprp",
      box("ipco", ...properties),
      // Item 1, a thumbnail, comes first and has the first property.
      box(
        "ipma",
        full(0),
        be(2, 4),
        Buffer.from([0, 1, 1, 1]),
        Buffer.from([0, 2, used.length, ...used.map((index) => index + 128)])
      )
    )
  )

describe("read", () => {
  const edge = fc.integer({ min: 1, max: 700 })

  it.each(["png", "jpeg", "webp", "gif", "tiff", "avif"] as const)(
    "agrees with sharp on %s of any size",
    async (format) => {
      await fc.assert(
        fc.asyncProperty(edge, edge, async (width, height) => {
          const file = await blank(width, height).toFormat(format, { effort: 1 }).toBuffer()
          expect(ImageSize.read(base64(file))).toEqual({ width, height, format })
        }),
        { numRuns: format === "avif" ? 10 : 40 }
      )
    }
  )

  it("agrees with sharp on lossless, transparent, animated and progressive variants", async () => {
    const alpha = sharp({ create: { width: 41, height: 17, channels: 4, background: "#3690" } })
    const files = await Promise.all([
      alpha.clone().webp({ lossless: true }).toBuffer(),
      alpha.clone().webp().toBuffer(),
      alpha.clone().png({ palette: true, progressive: true }).toBuffer(),
      alpha.clone().jpeg({ progressive: true }).withMetadata().toBuffer()
    ])
    for (const file of files)
      expect(ImageSize.read(base64(file))).toMatchObject({ width: 41, height: 17 })
  })

  it("turns a JPEG as its EXIF says, in both byte orders", async () => {
    const plain = await blank(30, 20).jpeg().toBuffer()
    for (const order of ["II", "MM"] as const)
      for (let orientation = 0; orientation <= 9; orientation++) {
        const file = withSegments(plain, exif(orientation, order))
        const { autoOrient } = await sharp(file).metadata()
        expect(ImageSize.read(base64(file)), `${order} ${orientation}`).toEqual({
          ...autoOrient,
          format: "jpeg"
        })
      }
  })

  it("finds a JPEG's frame behind segments of any size, filling and junk", async () => {
    const plain = await blank(30, 20).jpeg().toBuffer()
    const profile = segment(0xe2, "ICC_PROFILE\0", Buffer.alloc(65_000, 0xc0))
    const xmp = segment(0xe1, "http://ns.adobe.com/xap/1.0/\0", Buffer.alloc(1000, 0xff))
    const file = withSegments(
      plain,
      xmp,
      ...Array.from({ length: 20 }, () => profile),
      Buffer.from([0xff, 0xff, 0xff]),
      exif(6, "MM"),
      Buffer.from([0, 1, 2, 0xff, 0])
    )
    expect(file.length).toBeGreaterThan(1_000_000)
    expect(ImageSize.read(base64(file))).toEqual({ width: 20, height: 30, format: "jpeg" })
  })

  it("takes no other segment of a JPEG for its frame", () => {
    const frame = segment(0xc2, Buffer.from([8]), be(20, 2), be(30, 2), Buffer.alloc(10))
    const others = [0xc4, 0xc8, 0xcc, 0xdb, 0xfe].map((marker) =>
      segment(marker, Buffer.alloc(20, 7))
    )
    expect(ImageSize.read(base64("\xff\xd8", ...others, frame, ...others))).toEqual({
      width: 30,
      height: 20,
      format: "jpeg"
    })
    expect(ImageSize.read(base64("\xff\xd8", ...others))).toBeUndefined()
  })

  it("reads a PNG with Apple's chunk in front", () => {
    const file = base64(
      "\x89PNG\r\n\x1a\n",
      be(4, 4),
      "CgBI",
      be(0, 4),
      be(0, 4),
      be(13, 4),
      "IHDR",
      be(120, 4),
      be(90, 4),
      Buffer.alloc(9)
    )
    expect(ImageSize.read(file)).toEqual({ width: 120, height: 90, format: "png" })
  })

  it.each([
    ["of Windows", 40, le(300, 4), le(200, 4)],
    ["stored from the top", 124, le(300, 4), le(2 ** 32 - 200, 4)],
    ["of OS/2", 12, le(300, 2), le(200, 2)]
  ])("reads a BMP %s", (_, header, width, height) => {
    const file = base64("BM", Buffer.alloc(12), le(header, 4), width, height, Buffer.alloc(120))
    expect(ImageSize.read(file)).toEqual({ width: 300, height: 200, format: "bmp" })
  })

  it("reads the primary item of a HEIC, with its crop and rotation in their order", () => {
    const thumbnail = ispe(16, 9)
    const clap = box("clap", be(600, 4), be(3, 4), be(90, 4), be(2, 4), Buffer.alloc(16))
    const turn = (quarters: number) => box("irot", Buffer.from([quarters]))
    const read = (...parts: ReadonlyArray<Buffer>) => {
      const { width, height, format } = ImageSize.read(base64(...parts))!
      return `${format} ${width}x${height}`
    }
    expect(read(ftyp, meta([thumbnail, ispe(640, 480)], 2))).toBe("heic 640x480")
    expect(read(ftyp, meta([thumbnail, ispe(640, 480), turn(1)], 2, 3))).toBe("heic 480x640")
    expect(read(ftyp, meta([thumbnail, ispe(640, 480), turn(2)], 2, 3))).toBe("heic 640x480")
    expect(read(ftyp, meta([thumbnail, ispe(640, 480), clap], 2, 3))).toBe("heic 200x45")
    expect(read(ftyp, meta([thumbnail, ispe(640, 480), clap, turn(3)], 2, 3, 4))).toBe(
      "heic 45x200"
    )
    const avif = box("ftyp", "mif1", be(0, 4), "avif")
    expect(read(avif, meta([thumbnail, ispe(640, 480)], 2))).toBe("avif 640x480")
    const large = Buffer.concat([be(1, 4), Buffer.from("mdat"), be(0, 4), be(50_016, 4)])
    expect(read(ftyp, large, Buffer.alloc(50_000), meta([thumbnail, ispe(640, 480)], 2))).toBe(
      "heic 640x480"
    )
  })

  it("goes by the bytes, whatever the declared type", async () => {
    const file = (await blank(40, 30).png().toBuffer()).toString("base64")
    const size = { width: 40, height: 30, format: "png" }
    expect(ImageSize.read(`data:image/jpeg;base64,${file}`)).toEqual(size)
    expect(ImageSize.read(`data:image/svg+xml;charset=utf-8;base64,${file}`)).toEqual(size)
  })

  it("takes url-safe base64, missing padding and line breaks", async () => {
    const plain = await blank(70, 50).jpeg().toBuffer()
    const file = base64(withSegments(plain, segment(0xe2, Buffer.alloc(900, 0xfb)), exif(6, "II")))
    const size = { width: 50, height: 70, format: "jpeg" }
    expect(file).toMatch(/[+/]/)
    expect(ImageSize.read(file.replaceAll("+", "-").replaceAll("/", "_"))).toEqual(size)
    expect(ImageSize.read(file.replace(/=+$/, ""))).toEqual(size)
    expect(ImageSize.read(file.replace(/.{76}/g, "$&\r\n"))).toEqual(size)
    expect(ImageSize.read(`data:image/jpeg;base64,\n${file.replace(/.{64}/g, "$&\n")}`)).toEqual(
      size
    )
  })

  it("knows nothing of other files, empty edges and absurd ones", () => {
    const gif = (width: number, height: number) => base64("GIF89a", le(width, 2), le(height, 2))
    const otherItems = box(
      "iprp",
      box("ipco", ispe(3, 4)),
      box("ipma", full(0), be(1, 4), Buffer.from([0, 1, 1, 1]), Buffer.from([0, 9, 1, 1]))
    )
    const png = (width: number) =>
      base64("\x89PNG\r\n\x1a\n", be(13, 4), "IHDR", be(width, 4), be(1, 4))
    for (const text of [
      "",
      "data:",
      "data:image/png;base64,",
      "https://example.org/picture.png",
      "Bring milk, please",
      base64("%PDF-1.7\n"),
      base64("<svg width='3' height='4'/>"),
      base64(ftyp),
      base64(ftyp, meta([ispe(3, 4)], 2)),
      base64(ftyp, box("meta", full(0), box("pitm", full(0), be(9, 2)), otherItems)),
      gif(0, 10),
      gif(10, 0),
      png(1_000_001)
    ])
      expect(ImageSize.read(text), text).toBeUndefined()
    expect(ImageSize.read(gif(10, 20))).toEqual({ width: 10, height: 20, format: "gif" })
    expect(ImageSize.read(png(1_000_000))).toMatchObject({ width: 1_000_000, height: 1 })
  })
})

describe("on damaged and hostile data", () => {
  const samples = async (): Promise<ReadonlyArray<Buffer>> => {
    const image = blank(23, 11)
    const jpeg = await image.clone().jpeg().toBuffer()
    return [
      await image.clone().png().toBuffer(),
      jpeg,
      withSegments(jpeg, exif(6, "MM")),
      await image.clone().webp().toBuffer(),
      await image.clone().webp({ lossless: true }).toBuffer(),
      await image.clone().gif().toBuffer(),
      await image.clone().avif({ effort: 1 }).toBuffer(),
      await image.clone().tiff().toBuffer(),
      Buffer.concat([ftyp, meta([ispe(1, 1), ispe(23, 11), box("irot", Buffer.from([1]))], 2, 3)])
    ]
  }

  it("gives the whole file's size or nothing for a file cut anywhere", async () => {
    for (const file of await samples()) {
      const text = base64(file)
      const whole = ImageSize.read(text)
      expect(whole).toBeDefined()
      for (let length = 0; length < text.length; length++) {
        const part = ImageSize.read(text.slice(0, length))
        if (part !== undefined) expect(part).toEqual(whole)
      }
    }
  })

  it("never throws and gives whole positive numbers, whatever the bytes are", async () => {
    const files = await samples()
    const mutated = fc
      .tuple(
        fc.constantFrom(...files),
        fc.array(fc.tuple(fc.nat(700), fc.constantFrom(0, 1, 2, 8, 0x7f, 0x80, 0xff)), {
          maxLength: 12
        })
      )
      .map(([file, changes]) => {
        const bytes = Buffer.from(file)
        for (const [at, value] of changes) bytes[at % bytes.length] = value
        return base64(bytes)
      })
    const headed = fc
      .tuple(
        fc.constantFrom(...files.map((file) => file.subarray(0, 12))),
        fc.uint8Array({ maxLength: 400 })
      )
      .map(([head, rest]) => base64(head, rest))
    fc.assert(
      fc.property(fc.oneof(mutated, headed, fc.string(), fc.base64String()), (text) => {
        const size = ImageSize.read(text)
        if (size === undefined) return
        for (const edge of [size.width, size.height]) {
          expect(Number.isInteger(edge)).toBe(true)
          expect(edge).toBeGreaterThan(0)
          expect(edge).toBeLessThanOrEqual(1_000_000)
        }
      }),
      { numRuns: 5000 }
    )
  })

  it("comes to an end on structures that lead nowhere", () => {
    const hostile = [
      // Segments without length, markers without segments, no marker at all.
      base64("\xff\xd8", Buffer.alloc(400_000, Buffer.from([0xff, 0xe0, 0, 0]))),
      base64("\xff\xd8", Buffer.alloc(400_000, 0xff)),
      base64("\xff\xd8\xff", Buffer.alloc(400_000)),
      // Boxes of no size, empty boxes, boxes that say to be longer than anything.
      base64(ftyp, Buffer.alloc(400_000)),
      base64(ftyp, ...Array.from({ length: 50_000 }, () => box("free"))),
      base64(ftyp, Buffer.concat([be(1, 4), Buffer.from("meta"), Buffer.alloc(8, 0xff)])),
      base64(
        ftyp,
        box("meta", full(0), box("iprp", box("ipma", full(1, 1), Buffer.alloc(9, 0xff))))
      ),
      // A directory that points to itself, one with as many entries as can be.
      base64("II*\0", le(0, 4), Buffer.alloc(400_000)),
      base64("MM\0*", be(8, 4), Buffer.alloc(400_000, 0xff))
    ]
    for (const text of hostile) expect(ImageSize.read(text)).toBeUndefined()
  })
})

describe.skipIf(!requireData("image sizes"))("on real images", () => {
  const images = (folder: string): ReadonlyArray<string> =>
    readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((name) => /\.(a?png|jpe?g|mpo|webp|gif|avifs?|hei[cf]|bmp|tiff?)$/i.test(name))
      .map((name) => join(folder, name))

  it("agrees with sharp on every file that sharp can read", async () => {
    let agreed = 0
    for (const path of images(dataDir())) {
      const file = readFileSync(path)
      const metadata = await sharp(file)
        .metadata()
        .catch(() => undefined)
      const size = ImageSize.read(base64(file))
      if (metadata === undefined) continue
      const { width, height } = metadata.format === "jpeg" ? metadata.autoOrient : metadata
      const format =
        metadata.format === "heif" ? expect.stringMatching(/avif|heic/) : metadata.format
      expect(size, path).toEqual({ width, height, format })
      agreed++
    }
    expect(agreed).toBeGreaterThan(300)
  })

  it("reads files that sharp can't: BMP, and headers whose pixels are damaged", () => {
    const size = (name: string) => {
      const { width, height } = ImageSize.read(
        base64(readFileSync(join(dataDir(), "odd-images", name)))
      )!
      return [width, height]
    }
    expect(size("image-size/sample.bmp")).toEqual([123, 456])
    expect(size("sharp/65536-uint32-limit.png")).toEqual([65_536, 65_536])
  })
})
