import type { FileId, IdTag } from '@kith/protocol'
import { LRUCache } from 'lru-cache'
import type { Clock } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import { Gate, GateFullError } from '#lib/gate.ts'
import { type FetchPictureDeps, fetchPicture, type Picture } from './fetch-picture.ts'

export interface KeptPicturesDeps extends FetchPictureDeps {
  readonly clock: Clock
}

// In the memory of this process: some thousand pictures of usual size.
const maxKeptBytes = 32 * 1024 ** 2
// Each of them some 200 bytes.
const maxFailures = 5000
const failureMs = 5 * 60_000
// Pictures that are fetched at once, by identity; each waits for at most 2 MiB.
const gateLimits = { total: 8, perKey: 2, waitingPerKey: 4, waiting: 256 }

/** Pictures of profiles of other servers: one fetch for all that ask at once, and no other for five minutes after one that failed. */
export class KeptPictures {
  readonly #deps: KeptPicturesDeps
  readonly #kept = new LRUCache<string, Picture>({
    maxSize: maxKeptBytes,
    sizeCalculation: ({ bytes }) => bytes.length + 512,
  })
  readonly #failedUntilMs = new LRUCache<string, number>({ max: maxFailures })
  // Bound: what is inside the gate and before it.
  readonly #underWay = new Map<string, Promise<Picture | undefined>>()
  readonly #gate = new Gate(gateLimits)

  constructor(deps: KeptPicturesDeps) {
    this.#deps = deps
  }

  /** Undefined where there is none that can be shown now. */
  async get(idTag: IdTag, fileId: FileId): Promise<Picture | undefined> {
    const key = `${idTag} ${fileId}`
    const kept = this.#kept.get(key)
    if (kept) return kept
    if ((this.#failedUntilMs.get(key) ?? 0) > this.#deps.clock.now()) return undefined
    const underWay = this.#underWay.get(key)
    if (underWay) return underWay
    const begun = this.#load(key, idTag, fileId).finally(() => this.#underWay.delete(key))
    this.#underWay.set(key, begun)
    return begun
  }

  async #load(key: string, idTag: IdTag, fileId: FileId): Promise<Picture | undefined> {
    const leave = await this.#gate.enter(idTag).catch((error: unknown) => {
      throw error instanceof GateFullError ? new Failure('E-UNAVAILABLE', { retryAfterSecs: 5 }) : error
    })
    try {
      const picture = await fetchPicture(this.#deps, { idTag, fileId })
      if (picture) this.#kept.set(key, picture)
      else this.#failedUntilMs.set(key, this.#deps.clock.now() + failureMs)
      return picture
    } finally {
      leave()
    }
  }
}
