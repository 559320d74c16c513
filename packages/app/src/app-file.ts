import { flowLimits } from './messages/flow.ts'
import type { AppContext, AppMessage, HostMessage, ReadFailure } from './messages/messages.ts'

/** The bytes of the file that the app was opened on. They do not change. */
export interface AppFile {
  readonly name: string
  readonly contentType: string
  /** In bytes. */
  readonly size: number
  /** The bytes from `start` to before `end`, of the whole file when absent, and not beyond its end. Rejects with a
   * `FileReadError`. */
  read(start?: number, end?: number): Promise<ArrayBuffer>
  /** The whole file, for `URL.createObjectURL` and the like. */
  blob(): Promise<Blob>
  /** The whole file as UTF-8. */
  text(): Promise<string>
}

/** The bytes could not be read. */
export class FileReadError extends Error {
  override readonly name = 'FileReadError'
  readonly reason: ReadFailure | 'ended'

  constructor(reason: ReadFailure | 'ended') {
    super(`the file cannot be read: ${reason}`)
    this.reason = reason
  }
}

type ReadAnswer = Extract<HostMessage, { type: 'bytes' | 'failed' }>

/** Asks the host for parts of the file that the app was opened on, and gives each answer to who asked. */
export class FileReads {
  readonly #post: (message: AppMessage) => void
  // Bound: `flowLimits.readsAtOnce`.
  readonly #underWay = new Map<number, PromiseWithResolvers<ArrayBuffer>>()
  // Those that wait until others are done. Bound: what the app asks for.
  readonly #waiting: (() => void)[] = []
  #last = 0
  #hasEnded = false

  constructor(post: (message: AppMessage) => void) {
    this.#post = post
  }

  open({ name, contentType, size }: AppContext['opened']): AppFile {
    const blob = async () => new Blob(await this.#parts(0, size), { type: contentType })
    return {
      ...{ name, contentType, size, blob },
      read: async (start = 0, end = size) => {
        if (![start, end].every((place) => Number.isSafeInteger(place) && place >= 0))
          throw new RangeError('places in a file are whole numbers from 0')
        return await new Blob(await this.#parts(start, Math.min(size, end))).arrayBuffer()
      },
      text: async () => await (await blob()).text(),
    }
  }

  take(answer: ReadAnswer): void {
    const asked = this.#underWay.get(answer.read)
    if (!asked) return
    this.#underWay.delete(answer.read)
    if (answer.type === 'bytes') asked.resolve(answer.data)
    else asked.reject(new FileReadError(answer.reason))
    this.#waiting.shift()?.()
  }

  /** The host answers no more. */
  end(): void {
    this.#hasEnded = true
    for (const asked of this.#underWay.values()) asked.reject(new FileReadError('ended'))
    this.#underWay.clear()
    for (const go of this.#waiting.splice(0)) go()
  }

  async #parts(start: number, end: number): Promise<ArrayBuffer[]> {
    const parts: ArrayBuffer[] = []
    for (let at = start; at < end; at += flowLimits.readBytes)
      parts.push(await this.#part(at, Math.min(end, at + flowLimits.readBytes)))
    return parts
  }

  async #part(start: number, end: number): Promise<ArrayBuffer> {
    while (!this.#hasEnded && this.#underWay.size >= flowLimits.readsAtOnce)
      await new Promise<void>((go) => this.#waiting.push(go))
    if (this.#hasEnded) throw new FileReadError('ended')
    const asked = Promise.withResolvers<ArrayBuffer>()
    this.#last += 1
    this.#underWay.set(this.#last, asked)
    this.#post({ type: 'read', read: this.#last, start, end })
    return asked.promise
  }
}
