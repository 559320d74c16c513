import type { StoredFile, StoredVariant } from '../file.ts'

type Pictured = Pick<StoredFile, 'contentType' | 'preset' | 'status' | 'picture'>

/** Whether the content may say more than its pixels, such as where a picture was taken: then it is not for guests
 * (docs/protocol/file-life.md, Originals). A `raw` upload is published as it is, and other presets keep what they made. */
export function mayTellMore(
  { contentType, preset, status, picture }: Pictured,
  variants: readonly Pick<StoredVariant, 'variant'>[],
): boolean {
  if (preset !== 'default' || !/^image\/(?!svg)/.test(contentType)) return false
  // Every picture that was read and has metadata has an `hd` without them.
  return status !== 'A' || picture === undefined || variants.some(({ variant }) => variant === 'hd')
}
