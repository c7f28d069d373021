/** 53-bit hash of a text, base 36: to tell prefixes apart within one simulation. */
export const hashText = (text: string): string => {
  let a = 0x811c9dc5
  let b = text.length
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i)
    a = Math.imul(a ^ c, 0x01000193)
    b = Math.imul(b ^ c, 0x5bd1e995) ^ (b >>> 13)
  }
  return ((b >>> 0) * 0x200000 + ((a >>> 0) & 0x1fffff)).toString(36)
}
