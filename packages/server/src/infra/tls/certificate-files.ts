import { readFile } from 'node:fs/promises'
import type { Clock } from '#lib/clock.ts'
import { PeriodicWork } from '#lib/periodic-work.ts'
import type { Certificates, KeyPair } from './certificates.ts'
import { ChainError, type CheckedChain, checkChain } from './chain.ts'

interface FilesOptions {
  readonly certFile: string
  readonly keyFile: string
  readonly clock: Clock
  /** Told of every certificate that is served from now on. */
  onLoaded(chain: CheckedChain): void
  /** Told why files that have changed are not served; the former ones stay. */
  onRefused(error: unknown): void
}

// Files are read anew rather than watched: whatever replaces them does it in its own way, by links or over a network.
const everyMs = 30_000

/** The certificate that the files of an operator hold, for every name. */
export class CertificateFiles implements Certificates, AsyncDisposable {
  readonly #options: FilesOptions
  readonly #work: PeriodicWork
  // As they were read last.
  #texts: KeyPair
  #chain: CheckedChain
  // What was told last of files that are not served.
  #refused: string | undefined
  #tell: (pair: KeyPair) => void = () => undefined

  private constructor(options: FilesOptions, texts: KeyPair) {
    this.#options = options
    this.#texts = texts
    this.#chain = checkChain(texts.cert, texts.key)
    this.#work = new PeriodicWork({
      clock: options.clock,
      everyMs,
      work: () => this.#reload(),
      onError: (error) => this.#refuse(error),
    })
  }

  /** Throws a `ChainError` when what the files hold cannot be served. */
  static async open(options: FilesOptions): Promise<CertificateFiles> {
    const files = new CertificateFiles(options, await readFiles(options))
    options.onLoaded(files.#chain)
    files.#work.start()
    return files
  }

  // The default is for every name.
  async find(): Promise<undefined> {
    return undefined
  }

  onDefault(tell: (pair: KeyPair) => void): void {
    this.#tell = tell
    tell({ cert: this.#chain.pem, key: this.#texts.key })
  }

  /** Reads the files now. Never rejects. */
  reload(): Promise<void> {
    this.#refused = undefined
    return this.#work.run()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#work.stop()
    await this.#work.settled()
  }

  #refuse(error: unknown): void {
    const told = String(error)
    if (told !== this.#refused) this.#options.onRefused(error)
    this.#refused = told
  }

  async #reload(): Promise<void> {
    const texts = await readFiles(this.#options)
    const isOld = texts.cert === this.#texts.cert && texts.key === this.#texts.key
    if (!isOld) this.#chain = checkChain(texts.cert, texts.key)
    this.#refused = undefined
    if (isOld) return
    this.#texts = texts
    this.#tell({ cert: this.#chain.pem, key: texts.key })
    this.#options.onLoaded(this.#chain)
  }
}

/** The texts of both files. */
export async function readFiles({
  certFile,
  keyFile,
}: Pick<FilesOptions, 'certFile' | 'keyFile'>): Promise<KeyPair> {
  const [cert, key] = await Promise.all([readPem(certFile), readPem(keyFile)])
  return { cert, key }
}

async function readPem(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (cause) {
    throw new ChainError(`${path} cannot be read.`, { cause })
  }
}
