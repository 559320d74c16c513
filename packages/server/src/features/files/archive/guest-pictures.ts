import { posix } from 'node:path'
import type { BlobHash } from '#infra/blobs/index.ts'
import type { StoredFile, StoredVariant } from '../file.ts'
import { mayTellMore } from '../serving/guest-content.ts'
import { nameAs } from '../serving/serve-file.ts'
import { FolderNames } from './archive-names.ts'

interface Shown {
  readonly path: string
  readonly hash: BlobHash
  readonly size: number
}

/** What guests get in an archive in the place of originals that may say more than their pixels: the largest variant, under a name
 * of its own kind. */
export class GuestPictures {
  // As many names as the plan has, gathered when the first picture comes.
  #names: Map<string, FolderNames> | undefined
  readonly #paths: readonly string[]

  constructor(paths: readonly string[]) {
    this.#paths = paths
  }

  /** `original`: the file as it is; undefined where there is nothing for guests. */
  choose(
    { file, path }: { readonly file: StoredFile; readonly path: string },
    variants: readonly StoredVariant[],
  ): Shown | 'original' | undefined {
    if (!mayTellMore(file, variants)) return 'original'
    const found = variants.find(({ variant }) => variant === 'hd')
    if (!found || file.status !== 'A') return undefined
    const { dir, base } = posix.parse(path)
    const name = this.#namesIn(dir).take(nameAs(base, found.format))
    return { path: posix.join(dir, name), hash: found.blobHash, size: found.size }
  }

  #namesIn(folder: string): FolderNames {
    this.#names ??= namesByFolder(this.#paths)
    const known = this.#names.get(folder)
    if (!known) throw new TypeError(`the plan has nothing in ${folder}`)
    return known
  }
}

function namesByFolder(paths: readonly string[]): Map<string, FolderNames> {
  const found = new Map<string, FolderNames>()
  for (const path of paths) {
    const { dir, base } = posix.parse(path)
    const names = found.get(dir) ?? new FolderNames()
    names.take(base)
    found.set(dir, names)
  }
  return found
}
