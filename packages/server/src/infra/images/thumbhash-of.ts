import type { Sharp } from 'sharp'
import { rgbaToThumbHash } from 'thumbhash'

// The most that the format takes.
const longestSide = 100

/** The ThumbHash of a picture, base64: a blurred likeness of at most 25 bytes. */
export async function thumbhashOf(source: Sharp): Promise<string> {
  const { data, info } = await source
    .resize(longestSide, longestSide, { fit: 'inside', withoutEnlargement: true })
    .toColourspace('srgb')
    .ensureAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true })
  return Buffer.from(rgbaToThumbHash(info.width, info.height, data)).toString('base64')
}
