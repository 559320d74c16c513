import { Readable } from 'node:stream'
import type { Clock } from './clock.ts'
import { Failure } from './failure.ts'

interface ReaderLimits {
  /** For one piece of 64 KiB. */
  readonly pieceMs: number
  readonly totalMs: number
  /** Told of each piece that was taken. */
  readonly onTaken?: (bytes: number) => void
}

const defaultLimits: ReaderLimits = { pieceMs: 10_000, totalMs: 6 * 3_600_000 }

/** The same bytes, for a reader that must not take for ever: past its time the stream is destroyed. So it is, and no error is
 * told, where the source ends with a failure that is nobody's fault. */
export function watchReader(source: Readable, clock: Clock, limits = defaultLimits): Readable {
  // An error before the first piece is asked for would end the process; the iteration throws it.
  source.on('error', () => undefined)
  const watched = Readable.from(pieces(), { objectMode: false, highWaterMark: 1 })
  const cancel = clock.wakeAt(clock.now() + limits.totalMs, () => watched.destroy())
  watched.once('close', () => {
    cancel()
    source.destroy()
  })
  return watched

  async function* pieces() {
    try {
      for await (const piece of source) {
        const cancelPiece = clock.wakeAt(clock.now() + limits.pieceMs, () => watched.destroy())
        try {
          yield piece
          limits.onTaken?.((piece as Uint8Array).byteLength)
        } finally {
          cancelPiece()
        }
      }
    } catch (error) {
      if (error instanceof Failure) watched.destroy()
      throw error
    }
  }
}
