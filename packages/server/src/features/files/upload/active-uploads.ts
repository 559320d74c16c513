import { Failure } from '#lib/failure.ts'

/** The right to change an upload, until it is disposed of. */
interface ActiveUpload extends Disposable {
  /** Aborted when somebody else waits for it. */
  readonly signal: AbortSignal
}

interface Present {
  readonly interrupt: AbortController
  readonly ended: Promise<void>
}

/** One request at a time changes an upload. Who comes later takes the place of who is there: a client that lost its
 * connection comes back long before the server notices. */
export class ActiveUploads {
  // As many as there are requests under way.
  readonly #present = new Map<string, Present>()

  async take(name: string): Promise<ActiveUpload> {
    for (let other = this.#present.get(name); other; other = this.#present.get(name)) {
      other.interrupt.abort(supersededUpload())
      await other.ended
    }
    const interrupt = new AbortController()
    const { promise: ended, resolve } = Promise.withResolvers<void>()
    this.#present.set(name, { interrupt, ended })
    return {
      signal: interrupt.signal,
      [Symbol.dispose]: () => {
        this.#present.delete(name)
        resolve()
      },
    }
  }
}

/** Somebody else has changed the upload meanwhile. */
export function supersededUpload(): Failure {
  return new Failure('E-STATE', { message: 'Another request continues this upload.' })
}
