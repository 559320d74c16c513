import { createSecureContext, type SecureContext } from 'node:tls'
import { LRUCache } from 'lru-cache'
import type { Clock } from '#lib/clock.ts'
import type { Certificates, KeyPair } from './certificates.ts'

interface ServedOptions {
  readonly clock: Pick<Clock, 'now'>
  /** Reads the certificate of a name, if there is one. */
  read(name: string): Promise<KeyPair | undefined>
  /** Told why a certificate could not be read or used, once a minute. */
  onError(error: unknown): void
}

interface Entry {
  readonly cert: string | undefined
  readonly context: SecureContext | undefined
  readonly readAtMs: number
}

// What another process has got is served here after that time.
const freshMs = 5_000
const tellEveryMs = 60_000
// Of names with a certificate some 50 KB each; strangers may ask for any others.
const maxNames = 1_000
const maxAbsent = 10_000
const nameForm = /^(?=.{1,253}$)[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})+$/

/** Finds certificates by the names that clients ask for. Nothing is made for a name that is not kept. While they cannot be
 * read, those that were read last are served. */
export class ServedCertificates implements Certificates {
  readonly #options: ServedOptions
  readonly #kept = new LRUCache<string, Entry>({ max: maxNames })
  readonly #absent = new LRUCache<string, Entry>({ max: maxAbsent })
  #toldAtMs = Number.NEGATIVE_INFINITY
  // Bounded by the handshakes under way.
  readonly #reading = new Map<string, Promise<SecureContext | undefined>>()

  constructor(options: ServedOptions) {
    this.#options = options
  }

  async find(asked: string): Promise<SecureContext | undefined> {
    const name = asked.toLowerCase().replace(/\.$/, '')
    if (!nameForm.test(name)) return undefined
    const known = this.#kept.get(name) ?? this.#absent.get(name)
    const nowMs = this.#options.clock.now()
    if (known && nowMs >= known.readAtMs && nowMs < known.readAtMs + freshMs) return known.context
    const reading = this.#reading.get(name) ?? this.#read(name, known)
    this.#reading.set(name, reading)
    return reading
  }

  // Without a certificate for the name there is no handshake: an alert tells more than a certificate for another name.
  onDefault(): void {}

  /** Reads a name anew at its next handshake. */
  forget(name: string): void {
    this.#kept.delete(name)
    this.#absent.delete(name)
  }

  #tell(error: unknown): void {
    const nowMs = this.#options.clock.now()
    if (nowMs < this.#toldAtMs + tellEveryMs) return
    this.#toldAtMs = nowMs
    this.#options.onError(error)
  }

  async #read(name: string, known: Entry | undefined): Promise<SecureContext | undefined> {
    const readAtMs = this.#options.clock.now()
    try {
      const found = await this.#options.read(name)
      const context = found?.cert === known?.cert ? known?.context : found && createSecureContext(found)
      const entry = { cert: found?.cert, context, readAtMs }
      if (context) this.#kept.set(name, entry)
      else {
        this.#kept.delete(name)
        this.#absent.set(name, entry)
      }
      return context
    } catch (error) {
      this.#tell(error)
      if (known?.context) return known.context
      throw error
    } finally {
      this.#reading.delete(name)
    }
  }
}
