/** The average colour of a picture by its ThumbHash, for CSS; undefined where it is none. */
export function thumbhashColor(thumbhash: string): string | undefined {
  const head = firstBytes(thumbhash)
  if (head === undefined) return undefined
  // Six bits of luminance, and six each of the differences yellow to blue and red to green.
  const light = (head & 63) / 63
  const yellow = ((head >> 6) & 63) / 31.5 - 1
  const red = ((head >> 12) & 63) / 31.5 - 1
  const blue = light - (2 / 3) * yellow
  const r = (3 * light - blue + red) / 2
  const [R, G, B] = [r, r - red, blue].map((part) => Math.round(255 * Math.max(0, Math.min(1, part))))
  return `rgb(${R} ${G} ${B})`
}

function firstBytes(base64: string): number | undefined {
  if (!/^[A-Za-z0-9+/_-]{4}/.test(base64)) return undefined
  const bytes = atob(base64.slice(0, 4).replaceAll('-', '+').replaceAll('_', '/'))
  return bytes.charCodeAt(0) | (bytes.charCodeAt(1) << 8) | (bytes.charCodeAt(2) << 16)
}
