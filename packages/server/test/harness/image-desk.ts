import { execFileSync } from 'node:child_process'
import { copyFile, mkdir, mkdtemp, open, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TenantId } from '#infra/db/index.ts'
import { type ImageJob, type ImageLimits, type Images, openImages } from '#infra/images/index.ts'

/** Where the committed pictures lie (made by scripts/make-test-images.ts). */
export const pictures = join(import.meta.dirname, '../fixtures/images')

interface Line {
  readonly details: Record<string, unknown>
  readonly message: string
}

/** Images with a folder of their own, a log that can be waited for, and originals made on the spot. */
export class ImageDesk {
  readonly images: Images
  readonly dir: string
  readonly lines: Line[]
  readonly #waiting: Set<() => void>
  #jobs = 0

  private constructor(images: Images, dir: string, lines: Line[], waiting: Set<() => void>) {
    this.images = images
    this.dir = dir
    this.lines = lines
    this.#waiting = waiting
  }

  static async open(limits: Partial<ImageLimits> = {}): Promise<ImageDesk> {
    const dir = await mkdtemp(join(tmpdir(), 'kith-images-'))
    const lines: Line[] = []
    const waiting = new Set<() => void>()
    const log = (details: object, message: string) => {
      lines.push({ details: { ...details }, message })
      for (const look of waiting) look()
    }
    const images = await openImages({ tempDir: join(dir, 'temp'), logger: { debug: log, warn: log }, limits })
    return new ImageDesk(images, dir, lines, waiting)
  }

  /** A job for a committed picture (by its name) or one made with `original` (by its path). */
  async job(picture: string, options: Partial<ImageJob> = {}): Promise<ImageJob> {
    const outputDir = join(this.dir, 'temp', `job-${++this.#jobs}`)
    await mkdir(outputDir)
    const inputPath = picture.startsWith('/') ? picture : join(pictures, picture)
    return { tenantId: 1 as TenantId, inputPath, outputDir, preset: 'default', format: 'webp', ...options }
  }

  async process(picture: string, options: Partial<ImageJob> = {}) {
    return this.images.process(await this.job(picture, options))
  }

  async made(picture: string, options: Partial<ImageJob> = {}) {
    const result = await this.process(picture, options)
    if (result.kind !== 'made') throw new Error(`Not made: ${result.reason}`)
    return result
  }

  async original(name: string, bytes: Uint8Array | string): Promise<string> {
    const path = join(this.dir, name)
    await writeFile(path, bytes)
    return path
  }

  /** An original whose reader waits: `opened` resolves when a worker has begun to read it. */
  stuckOriginal(name: string) {
    const path = join(this.dir, name)
    execFileSync('mkfifo', [path])
    return {
      path,
      opened: async () => {
        const writer = await open(path, 'w')
        return { close: () => writer.close() }
      },
      replaceBy: async (picture: string) => {
        await rm(path)
        await copyFile(join(pictures, picture), path)
      },
    }
  }

  said(message: string): Line[] {
    return this.lines.filter((line) => line.message === message)
  }

  async until(message: string, count = 1): Promise<void> {
    if (this.said(message).length >= count) return
    await new Promise<void>((resolve) => {
      const look = () => {
        if (this.said(message).length < count) return
        this.#waiting.delete(look)
        resolve()
      }
      this.#waiting.add(look)
    })
  }

  /** Process ids of all workers that were started, in order. */
  get pids(): number[] {
    return this.said('An image worker started').map((line) => Number(line.details.pid))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.images.close()
    await rm(this.dir, { recursive: true, force: true })
  }
}

export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
