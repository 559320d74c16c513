import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { TestClock } from '#harness/test-clock.ts'
import { Failure } from '#lib/failure.ts'
import { watchReader } from './watch-reader.ts'

const piece = Buffer.alloc(64 * 1024, 'x')
async function* endless() {
  for (;;) yield piece
}

test('a reader in time has all bytes', async () => {
  expect(await buffer(watchReader(Readable.from([piece, piece]), new TestClock()))).toHaveLength(
    2 * piece.length,
  )
})

test('a reader that takes nothing for ten seconds has nothing more, nor has the source', async () => {
  const clock = new TestClock()
  const source = Readable.from(endless())
  const watched = watchReader(source, clock)
  await new Promise((resolve) => watched.once('readable', resolve))
  clock.advance(9_000)
  expect(watched.destroyed).toBe(false)
  const closed = new Promise((resolve) => source.once('close', resolve))
  clock.advance(2_000)
  expect(watched.destroyed).toBe(true)
  await closed
})

test('a reader that is slow all the time is cut off in the end', async () => {
  const clock = new TestClock()
  const watched = watchReader(Readable.from(endless()), clock, { pieceMs: 60_000, totalMs: 300_000 })
  let pieces = 0
  const reading = (async () => {
    for await (const _ of watched) {
      pieces += 1
      clock.advance(50_000)
    }
  })()
  await expect(reading).rejects.toThrow()
  expect(pieces).toBeLessThan(10)
})

test('a failure of the source ends it without an end, and is no bug', async () => {
  const failing = Readable.from(
    (async function* () {
      yield piece
      throw new Failure('E-FILE-NOTFOUND')
    })(),
  )
  const watched = watchReader(failing, new TestClock())
  const errors: unknown[] = []
  let isEnded = false
  watched
    .on('error', (error) => errors.push(error))
    .once('end', () => {
      isEnded = true
    })
  const closed = new Promise((resolve) => watched.once('close', resolve))
  watched.resume()
  await closed
  expect([errors, isEnded]).toEqual([[], false])
})

test('a source that fails before anything is read is no error of the process', async () => {
  const source = Readable.from(endless())
  const watched = watchReader(source, new TestClock())
  source.destroy(new Failure('E-UNAVAILABLE'))
  await new Promise(setImmediate)
  const errors: unknown[] = []
  watched.on('error', (error) => errors.push(error))
  const closed = new Promise((resolve) => watched.once('close', resolve))
  watched.resume()
  await closed
  expect(errors).toEqual([])
})
