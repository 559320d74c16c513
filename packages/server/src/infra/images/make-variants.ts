import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Metadata, Sharp, SharpOptions } from 'sharp'
import { decodeHeic, HeicMemoryError } from './decode-heic.ts'
import { readTakenAt } from './exif-date.ts'
import { hasExtras } from './find-extras.ts'
import { limitedSharp } from './limited-sharp.ts'
import { originalName } from './picture-file.ts'
import { thumbhashOf } from './thumbhash-of.ts'
import { type PlannedVariant, planVariants } from './variant-plan.ts'
import type { ImageProblem, WorkerAnswer, WorkerRequest } from './worker-messages.ts'

type Made = Extract<WorkerAnswer, { kind: 'made' }>

interface Encoded {
  readonly bytes: Buffer
  readonly planned: PlannedVariant
  readonly format: 'webp' | 'avif'
}

/** The picture is at fault. What else goes wrong is thrown as it is. */
class Unprocessable extends Error {
  readonly problem: ImageProblem

  constructor(problem: ImageProblem, cause?: unknown) {
    super(cause instanceof Error ? cause.message : problem, { cause })
    this.problem = problem
  }
}

/** Reads the picture, writes its variants into the output folder and tells what it was. */
export async function makeVariants(request: WorkerRequest): Promise<WorkerAnswer> {
  let spent: { isSpent?: true } = {}
  try {
    const { needsBareForm, profile, ...original } = await readOriginal(request)
    const { cropped, variants } = planVariants({ ...original, needsBareForm }, request.preset)
    const moves = (planned: PlannedVariant) => planned.moves && original.frames > 1
    if (original.format === 'heic') spent = { isSpent: true }
    const still = original.format === 'heic' ? await openHeic(request, profile) : openOriginal(request)
    const moving = await encodeMoving(request, variants.filter(moves))
    const { encoded, thumbhash } = await encodeChain(
      still.autoOrient().toColourspace('srgb'),
      variants.filter((planned) => !moves(planned)),
      { format: request.format, fit: cropped ? 'cover' : 'fill' },
    )
    const outputs = await Promise.all(
      [...moving, ...encoded].map((variant) => write(request.outputDir, variant)),
    )
    return { kind: 'made', original, thumbhash, outputs, ...spent }
  } catch (error) {
    if (!(error instanceof Unprocessable)) throw error
    return { kind: 'unprocessable', problem: error.problem, detail: error.message.slice(0, 1000), ...spent }
  }
}

type Original = Made['original'] & {
  /** It says more than its pixels, such as where it was taken, or is of a kind that browsers do not show. */
  readonly needsBareForm: boolean
  readonly profile: Uint8Array | undefined
}

async function readOriginal(request: WorkerRequest): Promise<Original> {
  const { inputPath, maxPixels, maxFrames } = request
  const header = await limitedSharp(inputPath, { limitInputPixels: false })
    .metadata()
    .catch((error: unknown) => {
      const unknown = error instanceof Error && /unsupported image format/.test(error.message)
      throw new Unprocessable(unknown ? 'unsupported' : 'damaged', error)
    })
  const format = formatOf(header)
  if (!format) throw new Unprocessable('unsupported')
  const frames = framesOf(header)
  if (frames > maxFrames) throw new Unprocessable('too-many-frames')
  if (header.width * (header.pageHeight ?? header.height) * frames > maxPixels) {
    throw new Unprocessable('too-many-pixels')
  }
  const takenAt = header.exif && readTakenAt(header.exif)
  return {
    ...header.autoOrient,
    ...(takenAt === undefined ? {} : { takenAt }),
    format,
    frames,
    needsBareForm: await needsBareForm(request, header, format),
    profile: header.icc,
  }
}

async function needsBareForm(
  { outputDir }: WorkerRequest,
  { exif, xmp, iptc }: Metadata,
  format: Made['original']['format'],
): Promise<boolean> {
  if (format === 'tiff' || format === 'heic') return true
  const isNoted = [exif, xmp, iptc].some((noted) => noted !== undefined)
  return isNoted || (await hasExtras(join(outputDir, originalName), format))
}

function formatOf({ format, compression }: Metadata): Made['original']['format'] | undefined {
  if (format === 'heif') {
    if (compression === 'av1') return 'avif'
    return compression === 'hevc' ? 'heic' : undefined
  }
  return (['jpeg', 'png', 'webp', 'gif', 'tiff'] as const).find((known) => known === format)
}

/** An animation that must also be turned is not known to exist; it counts as a still picture, as do pages of AVIF. */
function framesOf({ format, pages, orientation }: Metadata): number {
  const canMove = (format === 'gif' || format === 'webp') && (orientation ?? 1) === 1
  return canMove ? (pages ?? 1) : 1
}

function openOriginal({ inputPath, maxPixels }: WorkerRequest, options: SharpOptions = {}): Sharp {
  // `error` takes the warnings that cameras earn and refuses what is cut short.
  return limitedSharp(inputPath, { limitInputPixels: maxPixels, failOn: 'error', ...options })
}

async function openHeic(
  { outputDir, maxPixels, maxMemoryBytes }: WorkerRequest,
  profile: Uint8Array | undefined,
): Promise<Sharp> {
  const file = await readFile(join(outputDir, originalName))
  try {
    // The other half is for the pixels that come out, and for what is made of them.
    const pixels = decodeHeic(file, { maxPixels, maxMemoryBytes: maxMemoryBytes / 2, profile })
    return limitedSharp(pixels, { limitInputPixels: maxPixels, failOn: 'error' })
  } catch (error) {
    throw new Unprocessable(error instanceof HeicMemoryError ? 'too-much-memory' : 'damaged', error)
  }
}

/** Makes each variant from the pixels of the next larger, and the ThumbHash from those of the smallest, so that the
 * original is decoded once. */
async function encodeChain(
  source: Sharp,
  chain: readonly PlannedVariant[],
  options: { format: 'webp' | 'avif'; fit: 'cover' | 'fill' },
): Promise<{ readonly encoded: Encoded[]; readonly thumbhash: string }> {
  const [planned, ...rest] = chain
  if (!planned) return { encoded: [], thumbhash: await readable(thumbhashOf(source)) }
  const { width, height } = planned
  const resized = source.resize(width, height, { fit: options.fit }).raw()
  const { data, info } = await readable(resized.toBuffer({ resolveWithObject: true }))
  const pixels = () => limitedSharp(data, { raw: { width, height, channels: info.channels } })
  const [encoded, smaller] = await Promise.all([
    encode(pixels(), planned, options.format),
    encodeChain(pixels(), rest, { ...options, fit: 'fill' }),
  ])
  return { encoded: [encoded, ...smaller.encoded], thumbhash: smaller.thumbhash }
}

/** One after the other: the frames of one are memory enough. Always WebP, as an AVIF that moves cannot be written. */
async function encodeMoving(request: WorkerRequest, variants: readonly PlannedVariant[]): Promise<Encoded[]> {
  const encoded: Encoded[] = []
  for (const planned of variants) {
    const frames = openOriginal(request, { animated: true })
    encoded.push(await encode(frames.resize(planned.width, planned.height, { fit: 'fill' }), planned, 'webp'))
  }
  return encoded
}

async function encode(picture: Sharp, planned: PlannedVariant, format: 'webp' | 'avif'): Promise<Encoded> {
  // Effort 2 takes a third of the time of the default for files 5 % larger.
  const encoder = format === 'avif' ? picture.avif({ quality: 55, effort: 2 }) : picture.webp({ effort: 2 })
  return { bytes: await readable(encoder.toBuffer()), planned, format }
}

async function readable<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw new Unprocessable('damaged', error)
  }
}

async function write(
  outputDir: string,
  { bytes, planned, format }: Encoded,
): Promise<Made['outputs'][number]> {
  const { variant, width, height } = planned
  await writeFile(join(outputDir, `${variant}.${format}`), bytes, { mode: 0o600 })
  return { variant, width, height, format }
}
