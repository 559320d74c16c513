import type { VariantName } from '@kith/protocol'
import type { TenantId } from '#infra/db/index.ts'

export const imagePresets = ['default', 'profile-picture', 'cover-photo', 'thumbnail-only'] as const
export type ImagePreset = (typeof imagePresets)[number]

export interface ImageJob {
  /** Whose picture it is: they take turns, however many one has. */
  readonly tenantId: TenantId

  /** The original on disk; read by the worker process. */
  readonly inputPath: string
  /** An existing empty directory of this job below the images' `tempDir`. The caller removes it, whatever the outcome. */
  readonly outputDir: string
  readonly preset: ImagePreset
  readonly format: 'webp' | 'avif'
  readonly signal?: AbortSignal
}

export interface ImageOutput {
  readonly variant: VariantName
  readonly path: string
  readonly width: number
  readonly height: number
  readonly size: number
  /** `webp`, `avif`, … */
  readonly format: string
}

/** `outputs` holds no variant that would be no smaller than the original, but where that says more than its pixels or no
 * browser shows it; `original` has its upright size, and in Unix seconds when it was taken. */
export type ImageResult =
  | {
      readonly kind: 'made'
      readonly original: {
        readonly width: number
        readonly height: number
        readonly format: string
        readonly frames: number
        readonly takenAt?: number
      }
      /** A blurred likeness of the smallest picture that was made, base64, at most 36 characters. */
      readonly thumbhash: string
      readonly outputs: readonly ImageOutput[]
    }
  /** The bytes cannot be processed: corrupt, too many pixels or frames, too slow, too much memory. Never tried again. */
  | { readonly kind: 'unprocessable'; readonly reason: string }

/** Makes image variants in a separate process, started on demand and stopped when idle. */
export interface Images {
  /** Throws only when the job may be tried again (the worker died for no fault of the picture, or the server stops). */
  process(job: ImageJob): Promise<ImageResult>
  close(): Promise<void>
}
