import { createReadStream } from 'node:fs'
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { BlobStore, StagedBlob } from '#infra/blobs/index.ts'
import type { TenantId } from '#infra/db/index.ts'
import type { FreshPaths } from '#infra/disk/index.ts'
import type { ImageOutput, ImagePreset, ImageResult, Images } from '#infra/images/index.ts'
import type { Clock } from '#lib/clock.ts'
import type { StoredVariant } from '../file.ts'

export interface PictureDeps {
  readonly blobs: BlobStore
  readonly images: Images
  /** Where the worker writes its outputs. */
  readonly tempDir: string
  /** Tells other processes which of these this one still works on. */
  readonly freshPaths: FreshPaths
  readonly clock: Clock
  readonly imageFormatOf: (tenantId: TenantId) => Promise<'webp' | 'avif'>
}

/** A made picture, durable but not kept yet. */
export interface MadePicture {
  readonly variant: StoredVariant
  readonly blob: StagedBlob
}

type Made = Extract<ImageResult, { kind: 'made' }>
export type Pictures =
  | (Pick<Made, 'kind' | 'original' | 'thumbhash'> & { readonly pictures: readonly MadePicture[] })
  | Extract<ImageResult, { kind: 'unprocessable' }>

/** Makes a preset's pictures from a file on disk and stages them. The caller keeps or discards each. */
export async function makePictures(
  deps: PictureDeps,
  tenantId: TenantId,
  input: { readonly path: string; readonly preset: ImagePreset; readonly signal: AbortSignal },
): Promise<Pictures> {
  const outputDir = await mkdtemp(join(deps.tempDir, 'pictures-'))
  deps.freshPaths.keep(outputDir)
  try {
    const { path: inputPath, preset, signal } = input
    const format = await deps.imageFormatOf(tenantId)
    const result = await deps.images.process({ tenantId, inputPath, outputDir, preset, format, signal })
    if (result.kind === 'unprocessable') return result
    const pictures: MadePicture[] = []
    try {
      for (const output of result.outputs) pictures.push(await stagePicture(deps, tenantId, output))
    } catch (error) {
      await discardAll(pictures)
      throw error
    }
    const { original, thumbhash } = result
    return { kind: 'made', original, thumbhash, pictures }
  } finally {
    deps.freshPaths.letGo(outputDir)
    await rm(outputDir, { recursive: true, force: true })
  }
}

/** Removes the outputs of works whose process was last heard of so long ago. */
export async function sweepPictures(
  { tempDir, clock, freshPaths }: Pick<PictureDeps, 'tempDir' | 'clock' | 'freshPaths'>,
  olderThanMs: number,
): Promise<void> {
  const latestMs = clock.now() - olderThanMs
  for (const name of await readdir(tempDir)) {
    if (!name.startsWith('pictures-')) continue
    const path = join(tempDir, name)
    const { atimeMs = latestMs } = (await stat(path).catch(() => undefined)) ?? {}
    if (atimeMs < latestMs && !freshPaths.has(path)) await rm(path, { recursive: true, force: true })
  }
}

/** Removes what was not kept. */
export async function discardAll(pictures: readonly MadePicture[]): Promise<void> {
  await Promise.all(pictures.map(({ blob }) => blob.discard()))
}

async function stagePicture(
  deps: PictureDeps,
  tenantId: TenantId,
  output: ImageOutput,
): Promise<MadePicture> {
  const picture = createReadStream(output.path)
  // It opens the file at once; the store hears of a failure when it reads.
  picture.on('error', () => {})
  const blob = await deps.blobs.stage(tenantId, picture, { maxBytes: output.size })
  const { variant, width, height, size, format } = output
  return { blob, variant: { variant, blobHash: blob.hash, width, height, size, format } }
}
