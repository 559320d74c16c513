import { Readable } from 'node:stream'
import { EgressError } from './egress.ts'
import { toEgressError } from './egress-failure.ts'

// A peer that is slower than this, after the grace period, is cut off.
const minBytesPerSec = 1024
const graceMs = 10_000

/** The body as it arrives, cut off with `EgressError` when it is larger than allowed or too slow. The time that the
 * reader takes for itself does not count. */
export function boundedBody(source: Readable, maxBytes: number): Readable {
  const body = Readable.from(boundedChunks(source, maxBytes), { objectMode: false })
  // A reader that leaves before the first chunk never starts the generator, whose `finally` would do this.
  return body.once('close', () => source.destroy())
}

async function* boundedChunks(source: Readable, maxBytes: number): AsyncGenerator<Uint8Array> {
  let bytes = 0
  let waitedMs = 0
  let waitingSince = performance.now()
  try {
    for await (const chunk of source as AsyncIterable<Uint8Array>) {
      waitedMs += performance.now() - waitingSince
      bytes += chunk.byteLength
      if (bytes > maxBytes) throw tooLarge(maxBytes)
      if (waitedMs > graceMs && bytes < (waitedMs / 1000) * minBytesPerSec) {
        throw new EgressError('timeout', 'the answer arrives too slowly')
      }
      yield chunk
      waitingSince = performance.now()
    }
  } catch (error) {
    throw toEgressError(error)
  } finally {
    source.destroy()
  }
}

/** Refuses a body by what the head of the answer says, before any of it is read. */
export function assertReadable(
  headers: Readonly<Record<string, string>>,
  body: Readable,
  maxBytes: number,
): void {
  const refusal = refusalOf(headers, maxBytes)
  if (!refusal) return
  body.destroy()
  throw refusal
}

function refusalOf(headers: Readonly<Record<string, string>>, maxBytes: number): EgressError | undefined {
  if (Number(headers['content-length'] ?? 0) > maxBytes) return tooLarge(maxBytes)
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? ''
  // Only `identity` was asked for: a small compressed body may expand to a very large one.
  if (encoding === '' || encoding === 'identity') return undefined
  return new EgressError('refused', 'the answer is compressed, which was not asked for')
}

function tooLarge(maxBytes: number): EgressError {
  return new EgressError('too-large', `the answer is larger than ${maxBytes} bytes`)
}
