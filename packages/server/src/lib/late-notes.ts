import { LRUCache } from 'lru-cache'
import { type Clock, nowSecs } from './clock.ts'

interface LateNotesOptions<Note> {
  readonly clock: Clock
  /** Notes between two writes. What comes on top is dropped. */
  readonly maxPending: number
  /** Writes many notes at once. When it fails they are lost. */
  write(notes: readonly Note[]): Promise<void>
}

const precisionSecs = 60
const flushAfterMs = 1_000
// Keys noted within the last minute; one that falls out early is only written once more.
const maxRemembered = 5000

/** Notes that something was used: at most once a minute for each key, many in one write, and never while a request
 * waits. */
export class LateNotes<Note> implements AsyncDisposable {
  readonly #options: LateNotesOptions<Note>
  readonly #noted = new LRUCache<string, number>({ max: maxRemembered })
  // Bounded by `maxPending`.
  #pending: Note[] = []
  #callOff: (() => void) | undefined
  #flushing: Promise<void> = Promise.resolve()

  constructor(options: LateNotesOptions<Note>) {
    this.#options = options
  }

  /** `lastSecs` is when it was last noted as far as the caller knows, in Unix seconds. */
  note(key: string, noteAt: (atSecs: number) => Note, lastSecs = 0): void {
    const { clock, maxPending } = this.#options
    const now = nowSecs(clock)
    const last = Math.max(lastSecs, this.#noted.get(key) ?? 0)
    if (now - last < precisionSecs || this.#pending.length >= maxPending) return
    this.#noted.set(key, now)
    this.#pending.push(noteAt(now))
    this.#callOff ??= clock.wakeAt(clock.now() + flushAfterMs, () => void this.flush())
  }

  /** Resolves when everything noted so far is written, or given up. */
  flush(): Promise<void> {
    this.#callOff?.()
    this.#callOff = undefined
    const notes = this.#pending
    this.#pending = []
    // A database that is down says so itself; the next use after a minute is noted again.
    if (notes.length > 0)
      this.#flushing = this.#flushing.then(() => this.#options.write(notes)).catch(() => undefined)
    return this.#flushing
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.flush()
  }
}
