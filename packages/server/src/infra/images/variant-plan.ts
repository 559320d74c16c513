import type { VariantName } from '@kith/protocol'
import type { ImagePreset } from './images.ts'

interface Size {
  readonly width: number
  readonly height: number
}

/** One picture to make: exact pixels, never more than the source has. */
export interface PlannedVariant extends Size {
  readonly variant: VariantName
  /** Whether an animation keeps moving in it. */
  readonly moves: boolean
}

/** What to make of a picture: the largest first, each a reduction of the one before. */
interface VariantPlan {
  /** Whether the largest is cut out of the middle instead of being the whole picture. */
  readonly cropped: boolean
  readonly variants: readonly PlannedVariant[]
}

const longestSide = { tn: 150, ic: 64, sd: 640, hd: 1920 } as const
const squareSide = 400
const cover = { width: 1920, height: 1080 }

/** The variants of a preset for a picture of this upright size. One that needs a bare form is never the largest variant
 * itself: then `hd` has its pixels and nothing else. */
export function planVariants(
  source: Size & { readonly needsBareForm?: boolean },
  preset: ImagePreset,
): VariantPlan {
  switch (preset) {
    case 'default': {
      const { width, height } = source
      const isSmall = Math.max(width, height) <= longestSide.hd
      const bare =
        source.needsBareForm && isSmall ? [{ variant: 'hd', width, height, moves: true } as const] : []
      return { cropped: false, variants: [...bare, ...smaller(source, ['hd', 'sd', 'tn', 'ic'])] }
    }
    case 'profile-picture':
      return cropped(squareOf(source))
    case 'cover-photo':
      return cropped(coverOf(source))
    case 'thumbnail-only': {
      // The original is not kept, so there is a thumbnail of even the smallest picture.
      const thumbnail = { variant: 'tn', ...fitted(source, longestSide.tn), moves: false } as const
      return { cropped: false, variants: [thumbnail, ...smaller(thumbnail, ['ic'])] }
    }
  }
}

function cropped(original: Size): VariantPlan {
  const first = { variant: 'orig', ...original, moves: false } as const
  return { cropped: true, variants: [first, ...smaller(original, ['tn', 'ic'])] }
}

function smaller(source: Size, names: readonly (keyof typeof longestSide)[]): PlannedVariant[] {
  return names
    .filter((name) => longestSide[name] < Math.max(source.width, source.height))
    .map((name) => ({
      variant: name,
      ...fitted(source, longestSide[name]),
      moves: name === 'sd' || name === 'hd',
    }))
}

function fitted({ width, height }: Size, longest: number): Size {
  const scale = Math.min(1, longest / Math.max(width, height))
  return { width: atLeastOne(width * scale), height: atLeastOne(height * scale) }
}

function squareOf({ width, height }: Size): Size {
  const side = Math.min(squareSide, width, height)
  return { width: side, height: side }
}

/** The largest 16:9 that lies inside the picture, reduced to the size of a cover. */
function coverOf({ width, height }: Size): Size {
  const scale = Math.min(1, width / cover.width, height / cover.height)
  return { width: atLeastOne(cover.width * scale), height: atLeastOne(cover.height * scale) }
}

const atLeastOne = (pixels: number) => Math.max(1, Math.round(pixels))
