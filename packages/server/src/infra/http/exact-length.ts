import { Transform } from 'node:stream'

/** Passes on as many bytes as an answer has announced, and fails with more or fewer: on a connection that stays open
 * they would be taken for a part of the next answer, which may be somebody else's where a proxy shares the
 * connection. */
export function exactLength(announced: number): Transform {
  let left = announced
  const mismatch = () => new Error(`A body of ${announced} bytes was announced, and it has others`)
  return new Transform({
    transform(chunk: Uint8Array, _encoding, done) {
      left -= chunk.byteLength
      if (left < 0) done(mismatch())
      else done(null, chunk)
    },
    flush: (done) => done(left > 0 ? mismatch() : null),
  })
}
