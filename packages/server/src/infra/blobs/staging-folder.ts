import { randomBytes } from 'node:crypto'
import { mkdir, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { DiskSpace, FreshPaths } from '#infra/disk/index.ts'
import type { Logger } from '#infra/telemetry/index.ts'
import type { Clock } from '#lib/clock.ts'
import { unlessMissing } from '#lib/system-error.ts'
import type { StageLimits } from './blob-store.ts'
import { type ExplainDiskError, explainDiskErrors } from './disk-failure.ts'
import { type StagedBytes, stageToFile } from './stage-to-file.ts'

interface StagingOptions {
  /** Made when it is not there. */
  readonly dir: string
  readonly clock: Clock
  readonly logger: Pick<Logger, 'error'>
  /** What staged files leave free on the disk; everything may be taken when absent. */
  readonly keepFreeBytes?: (() => Promise<number>) | undefined
}

/** A file of a staging folder: bytes that have arrived and are not where they belong yet. */
export interface StagedFile extends StagedBytes {
  readonly path: string
  /** Removes it; after `release` it does nothing. */
  discard(): Promise<void>
  /** It was moved to where it belongs. */
  release(): void
}

/** A directory of this program's temporary files, under random names. */
export class StagingFolder {
  readonly #options: StagingOptions
  readonly #explain: ExplainDiskError
  readonly #space: DiskSpace
  readonly #staged: FreshPaths

  private constructor(options: StagingOptions) {
    this.#options = options
    this.#explain = explainDiskErrors(options.dir, options.logger)
    this.#space = new DiskSpace(options)
    this.#staged = new FreshPaths(options.clock)
  }

  static async open(options: StagingOptions): Promise<StagingFolder> {
    await mkdir(options.dir, { recursive: true, mode: 0o700 })
    return new StagingFolder(options)
  }

  async stage(source: AsyncIterable<Uint8Array>, limits: StageLimits): Promise<StagedFile> {
    const { dir, clock } = this.#options
    const space = this.#space
    const explain = this.#explain
    await space.assertFreeSpace(limits.expectedBytes ?? 1)
    const name = randomBytes(16).toString('hex')
    const path = join(dir, name)
    this.#staged.keep(path)
    const release = () => this.#staged.letGo(path)
    try {
      const bytes = await stageToFile({ path, source, limits, clock, space, explain })
      return { ...bytes, path, release, discard: () => this.#discard(path) }
    } catch (error) {
      release()
      throw error
    }
  }

  /** Removes what was last written more than `olderThanMs` ago and is not staged by this process; tells how many. */
  async sweep(olderThanMs: number): Promise<number> {
    const { dir, clock } = this.#options
    const latestMs = clock.now() - olderThanMs
    let swept = 0
    for (const name of await readdir(dir)) {
      const path = join(dir, name)
      const found = this.#staged.has(path) ? undefined : await unlessMissing(stat(path))
      if (!found || found.mtimeMs > latestMs) continue
      await rm(path, { force: true })
      swept++
    }
    return swept
  }

  async #discard(path: string): Promise<void> {
    if (!this.#staged.has(path)) return
    await rm(path, { force: true })
    this.#staged.letGo(path)
  }
}
