import { thumbHashToAverageRGBA } from 'thumbhash'

/** What an installed app is framed and opened with, as CSS has it. */
export interface AppColors {
  /** Of the bar above it: white text on it has a contrast of at least 4.5. */
  readonly theme: string
  /** Of the sheet on which it opens: light enough for dark text. */
  readonly background: string
}

export const plainColors: AppColors = { theme: '#ffffff', background: '#ffffff' }

type Rgb = readonly [number, number, number]

// WCAG 2.2, 1.4.3.
const leastContrast = 4.5
const tintOfBackground = 0.12

/** Colours after the average of a picture, by its ThumbHash. */
export function colorsOf(thumbhash: string | undefined): AppColors {
  const bytes = Buffer.from(thumbhash ?? '', 'base64')
  // The average is in the first five.
  if (bytes.length < 5) return plainColors
  const { r, g, b } = thumbHashToAverageRGBA(bytes)
  const average: Rgb = [clamp(r), clamp(g), clamp(b)]
  const background = average.map((part) => 1 - tintOfBackground * (1 - part)) as unknown as Rgb
  return { theme: hexOf(darkened(average)), background: hexOf(background) }
}

/** The colour, as dark as white text on it needs. */
function darkened(color: Rgb): Rgb {
  for (let share = 1; share > 0; share -= 0.02) {
    const darker = color.map((part) => part * share) as unknown as Rgb
    if (1.05 / (luminanceOf(darker) + 0.05) >= leastContrast) return darker
  }
  return [0, 0, 0]
}

/** Relative luminance (WCAG 2.2). */
function luminanceOf([r, g, b]: Rgb): number {
  const linear = (part: number) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
  return 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b)
}

function clamp(part: number): number {
  return Math.min(1, Math.max(0, part))
}

function hexOf(color: Rgb): string {
  // Down, so that rounding lightens nothing.
  return `#${color
    .map((part) =>
      Math.floor(part * 255)
        .toString(16)
        .padStart(2, '0'),
    )
    .join('')}`
}
