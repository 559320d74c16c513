import { Readable } from 'node:stream'

/** A part of an object that is on its way. */
export type S3Body = AsyncIterable<Uint8Array> & { destroy(): unknown }

interface S3Reading {
  /** What has been asked for already, from `start` on. */
  readonly body: S3Body
  readonly start: number
  /** Inclusive. */
  readonly end: number
  /** Asks for the rest once more. */
  readonly reopen: (start: number, end: number) => Promise<S3Body>
  readonly explain: (error: unknown) => unknown
}

const attemptsWithoutProgress = 3
const readChunkBytes = 256 * 1024

/**
 * The bytes as a stream that asks for the rest when the store breaks off in the middle, or has closed a connection on
 * which a slow reader asked for nothing. It fails after three attempts that brought nothing.
 */
export function readObject(reading: S3Reading): Readable {
  const current = { body: reading.body }
  const bytes = Readable.from(piecesOf(reading, current), {
    objectMode: false,
    highWaterMark: readChunkBytes,
  })
  // A reader that goes before its first byte never starts the generator, whose end would do this.
  return bytes.once('close', () => current.body.destroy())
}

async function* piecesOf(reading: S3Reading, current: { body: S3Body }): AsyncGenerator<Uint8Array> {
  let next = reading.start
  let failures = 0
  while (next <= reading.end) {
    try {
      for await (const piece of current.body) {
        next += piece.byteLength
        failures = 0
        yield piece
      }
      if (next > reading.end) return
      throw new Error('The store ended the answer too early')
    } catch (error) {
      failures += 1
      if (failures >= attemptsWithoutProgress) throw reading.explain(error)
    }
    current.body = await reading.reopen(next, reading.end)
  }
}
