/**
 * Draws the pictures of packages/server/test/fixtures/images. They are committed; run this again only to change them:
 * another version of the encoders may write other bytes.
 */
import { mkdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import sharp, { type Sharp } from 'sharp'

const folder = join(import.meta.dirname, '../packages/server/test/fixtures/images')

type Colour = readonly [red: number, green: number, blue: number]

/** Where the camera stood: the middle of lake Balaton, 46°50′N 17°44′E. */
const gps = {
  GPSLatitudeRef: 'N',
  GPSLatitude: '46/1 50/1 0/1',
  GPSLongitudeRef: 'E',
  GPSLongitude: '17/1 44/1 0/1',
}

const camera = { Make: 'Kith', Model: 'Procedural', Software: 'make-test-images' }

/** Stores an upright picture the way a phone held upright does: turned to the left, with EXIF that says so. */
function asPhonePhoto(upright: Sharp): Sharp {
  return upright.rotate(270).withMetadata({ orientation: 6 }).withExifMerge({ IFD0: camera, IFD3: gps })
}

function fromPixels(width: number, height: number, at: (x: number, y: number) => Colour): Sharp {
  const pixels = Buffer.alloc(width * height * 3)
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) pixels.set(at(x, y), (y * width + x) * 3)
  }
  return sharp(pixels, { raw: { width, height, channels: 3 } })
}

/** A hash of whole coordinates, evenly spread over 0..1: the same picture on every run. */
function grain(x: number, y: number): number {
  let bits = Math.imul(x, 374761393) + Math.imul(y, 668265263)
  bits = Math.imul(bits ^ (bits >>> 13), 1274126177)
  return ((bits ^ (bits >>> 16)) >>> 0) / 2 ** 32
}

function smooth(x: number, y: number): number {
  const [left, top] = [Math.floor(x), Math.floor(y)]
  const ease = (t: number) => t * t * (3 - 2 * t)
  const [across, down] = [ease(x - left), ease(y - top)]
  const upper = grain(left, top) + (grain(left + 1, top) - grain(left, top)) * across
  const lower = grain(left, top + 1) + (grain(left + 1, top + 1) - grain(left, top + 1)) * across
  return upper + (lower - upper) * down
}

/** Clouds: noise of halving size and weight, 0..1. */
function clouds(x: number, y: number, octaves: number): number {
  let [sum, weight, total] = [0, 1, 0]
  for (let octave = 0; octave < octaves; octave++) {
    sum += weight * smooth(x * 2 ** octave + octave * 17, y * 2 ** octave)
    total += weight
    weight /= 2
  }
  return sum / total
}

function mix(from: Colour, to: Colour, share: number): Colour {
  const t = Math.min(1, Math.max(0, share))
  return [0, 1, 2].map((i) => (from[i] ?? 0) + ((to[i] ?? 0) - (from[i] ?? 0)) * t) as unknown as Colour
}

const land = {
  width: 1536,
  height: 2304,
  shore: 1500,
  sun: { x: 980, y: 820 },
}

function sky(x: number, y: number): Colour {
  const glow = Math.exp(-Math.hypot(x - land.sun.x, y - land.sun.y) / 330)
  const base = mix([38, 62, 120], [248, 172, 110], y / land.shore)
  const veil = clouds(x / 420, y / 140, 6)
  return mix(mix(base, [255, 238, 205], glow), [250, 214, 196], Math.max(0, veil - 0.45) * 1.6)
}

const ridges = [
  { top: 930, rise: 260, size: 300, colour: [104, 98, 138] },
  { top: 1130, rise: 220, size: 210, colour: [66, 70, 108] },
  { top: 1330, rise: 150, size: 120, colour: [34, 46, 62] },
] as const

function above(x: number, y: number): Colour {
  let colour = sky(x, y)
  ridges.forEach((ridge, index) => {
    const crest = ridge.top + ridge.rise * (clouds(x / ridge.size, index * 31, 8) - 0.4)
    if (y > crest) {
      const rock = clouds(x / 30, y / 22 + index * 50, 5) - 0.5
      colour = mix(ridge.colour, [222, 168, 140], (rock * 0.5 + (y - crest) / 1400) * 0.9)
    }
  })
  return colour
}

function landscape(x: number, y: number): Colour {
  let colour = above(x, y)
  if (y >= land.shore) {
    const depth = y - land.shore
    const wave = (clouds(x / 60, depth / (4 + depth / 40), 4) - 0.5) * (6 + depth / 9)
    colour = mix(
      above(x + wave, Math.max(0, land.shore - depth * 1.15 + wave)),
      [12, 28, 48],
      0.25 + depth / 1500,
    )
  }
  const noise = (grain(x, y) - 0.5) * 9
  return colour.map((channel) => Math.min(255, Math.max(0, Math.round(channel + noise)))) as unknown as Colour
}

/** Red and green above, blue and yellow below. */
const quarters = (width: number, height: number) =>
  fromPixels(width, height, (x, y) => {
    const right = x >= width / 2
    if (y < height / 2) return right ? [0, 160, 0] : [220, 0, 0]
    return right ? [240, 220, 0] : [0, 0, 220]
  })

const gradient = (width: number, height: number) =>
  fromPixels(width, height, (x, y) =>
    mix(mix([250, 120, 60], [60, 90, 220], x / width), [20, 20, 40], y / height),
  )

/** A green disc on nothing, its edge half transparent. */
function disc(width: number, height: number): Sharp {
  const pixels = Buffer.alloc(width * height * 4)
  const radius = height * 0.4
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const inside = radius - Math.hypot(x - width / 2, y - height / 2)
      pixels.set(
        [20, 170, 90, Math.round(Math.min(1, Math.max(0, inside / 8 + 0.5)) * 255)],
        (y * width + x) * 4,
      )
    }
  }
  return sharp(pixels, { raw: { width, height, channels: 4 } })
}

const frameColours: readonly Colour[] = [
  [220, 30, 30],
  [240, 150, 20],
  [220, 220, 40],
  [30, 160, 60],
  [30, 90, 210],
]

/** Five plain frames of 100 ms, each of its own colour, looping for ever. */
function animation(width: number, pageHeight: number): Sharp {
  const pixels = Buffer.concat(
    frameColours.map((colour) => Buffer.alloc(width * pageHeight * 3, Uint8Array.from(colour))),
  )
  return sharp(pixels, { raw: { width, height: pageHeight * frameColours.length, channels: 3, pageHeight } })
}

const timing = { loop: 0, delay: frameColours.map(() => 100) }

async function write(name: string, picture: Sharp): Promise<void> {
  const path = join(folder, name)
  const { width, height } = await picture.toFile(path)
  console.log(`${name}: ${width}x${height}, ${(await stat(path)).size} bytes`)
}

await mkdir(folder, { recursive: true })
await write('photo.jpg', asPhonePhoto(fromPixels(land.width, land.height, landscape)).jpeg({ quality: 82 }))
await write('orientation-6.jpg', asPhonePhoto(quarters(400, 600)).jpeg({ quality: 85 }))
await write('wide-gamut.jpg', quarters(400, 300).withIccProfile('p3').jpeg({ quality: 90 }))
await write('transparent.png', disc(480, 320).png({ compressionLevel: 9 }))
await write('still.webp', gradient(800, 500).webp({ quality: 75 }))
await write('still.avif', gradient(800, 500).avif({ quality: 50 }))
await write('animated.gif', animation(960, 480).gif(timing))
await write('animated.webp', animation(960, 480).webp({ ...timing, quality: 60 }))
