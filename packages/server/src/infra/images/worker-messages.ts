import { maxWorldTime, minWorldTime, variantNames } from '@kith/protocol'
import Type, { type Static } from 'typebox'
import { Compile } from 'typebox/compile'
import type { ImagePreset } from './images.ts'

/** A job as the worker receives it, with the limits that it watches itself. */
export interface WorkerRequest {
  readonly inputPath: string
  /** Has the original once more, as `originalName`: the worker's JavaScript may read it there alone. */
  readonly outputDir: string
  readonly preset: ImagePreset
  readonly format: 'webp' | 'avif'
  readonly maxPixels: number
  readonly maxFrames: number
  readonly maxMemoryBytes: number
}

const pixels = Type.Integer({ minimum: 1, maximum: 2 ** 31 })
const size = { width: pixels, height: pixels }

// Its process holds memory that ends with it alone.
const isSpent = Type.Optional(Type.Literal(true))

// The worker has read hostile bytes: it names variants, and never a path, a sentence or another format.
const WorkerAnswer = Type.Union([
  Type.Object({
    kind: Type.Literal('made'),
    original: Type.Object({
      ...size,
      format: Type.Enum(['jpeg', 'png', 'webp', 'avif', 'gif', 'tiff', 'heic']),
      frames: Type.Integer({ minimum: 1, maximum: 1_000_000 }),
      takenAt: Type.Optional(Type.Integer({ minimum: minWorldTime, maximum: maxWorldTime })),
    }),
    // 5 to 25 bytes, base64.
    thumbhash: Type.String({ pattern: '^[A-Za-z0-9+/]{6,34}={0,2}$' }),
    outputs: Type.Array(
      Type.Object({ variant: Type.Enum(variantNames), ...size, format: Type.Enum(['webp', 'avif']) }),
      { maxItems: variantNames.length },
    ),
    isSpent,
  }),
  Type.Object({
    kind: Type.Literal('unprocessable'),
    problem: Type.Enum([
      'unsupported',
      'damaged',
      'too-many-pixels',
      'too-many-frames',
      'too-much-memory',
      'too-slow',
    ]),
    detail: Type.Optional(Type.String({ maxLength: 1000 })),
    isSpent,
  }),
  Type.Object({ kind: Type.Literal('failed'), detail: Type.String({ maxLength: 1000 }) }),
])
/** `failed` is no fault of the picture; `detail` is for the log alone. */
export type WorkerAnswer = Static<typeof WorkerAnswer>

export type ImageProblem = Extract<WorkerAnswer, { kind: 'unprocessable' }>['problem']

const validator = Compile(Type.Union([Type.Object({ kind: Type.Literal('ready') }), WorkerAnswer]))

/** Undefined for what no honest worker says. */
export function readWorkerMessage(message: unknown): { kind: 'ready' } | WorkerAnswer | undefined {
  return validator.Check(message) ? message : undefined
}
