import sharp from "sharp"

/** A screen of coloured boxes as raw RGB; other seeds give other boxes. */
export const pixels = (width: number, height: number, seed: number): Buffer => {
  const data = Buffer.alloc(width * height * 3, 240)
  let state = seed * 2654435761 + 1
  const next = (below: number): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state % below
  }
  for (let box = 0; box < 24; box++) {
    const [left, top] = [next(width), next(height)]
    const [right, bottom] = [left + next(width / 3) + 8, top + next(height / 4) + 8]
    const colour = [next(256), next(256), next(256)]
    for (let y = top; y < Math.min(bottom, height); y++)
      for (let x = left; x < Math.min(right, width); x++) data.set(colour, (y * width + x) * 3)
  }
  // Texture, so that a screenshot is not smaller than its own thumbnail.
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x += 4) {
      const at = (y * width + x) * 3
      const shade = next(24)
      for (let i = at; i < Math.min(at + 12, (y + 1) * width * 3); i++)
        data[i] = Math.max(0, data[i]! - shade)
    }
  return data
}

const known = new Map<string, Promise<string>>()

/** PNG of a screen as base64. */
export const screen = (width = 640, height = 400, seed = 0): Promise<string> => {
  const key = `${width}x${height}/${seed}`
  let made = known.get(key)
  if (made === undefined) {
    made = sharp(pixels(width, height, seed), { raw: { width, height, channels: 3 } })
      .png()
      .toBuffer()
      .then((png) => png.toString("base64"))
    known.set(key, made)
  }
  return made
}

/** The same screen with a small box of another colour in it: what a pointer or a cursor changes. */
export const touched = async (
  seed: number,
  size: number,
  at = 40,
  width = 640,
  height = 400
): Promise<string> => {
  const data = pixels(width, height, seed)
  for (let y = at; y < at + size; y++)
    for (let x = at; x < at + size; x++) data.set([255, 0, 255], (y * width + x) * 3)
  const png = await sharp(data, { raw: { width, height, channels: 3 } })
    .png()
    .toBuffer()
  return png.toString("base64")
}

export interface TestBlock {
  readonly type: string
  readonly text?: string
  readonly data?: string
  readonly mimeType?: string
}

export interface TestMessage {
  readonly role: string
  readonly content: string | ReadonlyArray<TestBlock>
  readonly toolCallId?: string
}

export const image = (data: string, mimeType = "image/png"): TestBlock => ({
  type: "image",
  data,
  mimeType
})

/** One prompt and a step for each list of images; the text beside them stays. */
export const historyOf = (
  steps: ReadonlyArray<ReadonlyArray<TestBlock>>
): ReadonlyArray<TestMessage> => [
  { role: "user", content: "Look at every page." },
  ...steps.flatMap((images, i): ReadonlyArray<TestMessage> => [
    {
      role: "assistant",
      content: [
        { type: "toolCall", id: `c${i}`, name: "look", arguments: { page: i } } as TestBlock
      ]
    },
    {
      role: "toolResult",
      toolCallId: `c${i}`,
      toolName: "look",
      isError: false,
      content: [{ type: "text", text: `page ${i}` }, ...images]
    } as TestMessage
  ])
]

/** The blocks of the results, each list with the text beside them left out. */
export const shownIn = (
  messages: ReadonlyArray<unknown>
): ReadonlyArray<ReadonlyArray<TestBlock>> =>
  (messages as ReadonlyArray<TestMessage>)
    .filter(({ role }) => role === "toolResult")
    .map(({ content }) => (typeof content === "string" ? [] : content.slice(1)))

/** `image WxH` or the text, for each block. */
export const imagesIn = (messages: ReadonlyArray<unknown>): ReadonlyArray<TestBlock> =>
  (messages as ReadonlyArray<TestMessage>)
    .flatMap(({ content }) => (typeof content === "string" ? [] : content))
    .filter(({ type }) => type === "image")
