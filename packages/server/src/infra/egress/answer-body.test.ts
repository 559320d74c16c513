import { PassThrough } from 'node:stream'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { boundedBody } from './answer-body.ts'
import { EgressError } from './egress.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(() => void vi.useRealTimers())

/** Sends one piece after so many seconds of silence, and reads it. */
async function pass(source: PassThrough, reader: AsyncIterator<Uint8Array>, secs: number, bytes: number) {
  const next = reader.next()
  await new Promise((resolve) => setImmediate(resolve))
  vi.advanceTimersByTime(secs * 1000)
  source.write(Buffer.alloc(bytes))
  return next
}

function connection() {
  const source = new PassThrough()
  const reader: AsyncIterator<Uint8Array> = boundedBody(source, 1_000_000)[Symbol.asyncIterator]()
  return { source, reader }
}

test('a body slower than the least rate is cut off once the grace is over', async () => {
  const { source, reader } = connection()
  expect((await pass(source, reader, 6, 1)).done).toBe(false)
  const late = pass(source, reader, 6, 1)
  await expect(late).rejects.toMatchObject({ reason: 'timeout' })
  await expect(late).rejects.toBeInstanceOf(EgressError)
  expect(source.destroyed).toBe(true)
})

test('a body that is fast enough on average goes on', async () => {
  const { source, reader } = connection()
  for (let times = 0; times < 10; times += 1) {
    expect((await pass(source, reader, 6, 8000)).done).toBe(false)
  }
})

test('the time that the reader takes does not count', async () => {
  const { source, reader } = connection()
  for (let times = 0; times < 40; times += 1) source.write(Buffer.alloc(16_000))
  source.end()
  let bytes = 0
  for (let next = await reader.next(); !next.done; next = await reader.next()) {
    bytes += next.value.byteLength
    vi.advanceTimersByTime(60_000)
    await new Promise((resolve) => setImmediate(resolve))
  }
  expect(bytes).toBe(640_000)
})
