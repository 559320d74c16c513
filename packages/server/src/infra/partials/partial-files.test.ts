import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterEach, expect, test } from 'vitest'
import { TestClock } from '#harness/test-clock.ts'
import { openPartialFiles, type Piece } from './partial-files.ts'

const places: string[] = []
afterEach(async () => {
  for (const place of places.splice(0)) await rm(place, { recursive: true })
})

async function openFolder() {
  const place = await mkdtemp(join(tmpdir(), 'kith-partials-'))
  places.push(place)
  const dir = join(place, 'uploads')
  const clock = new TestClock()
  const files = await openPartialFiles({ dir, clock, logger: { error: () => {} } })
  const durable: number[] = []
  const append = (offset: number, source: AsyncIterable<Uint8Array>, piece: Partial<Piece> = {}) => {
    const { signal } = new AbortController()
    const onDurable = async (reached: number) => void durable.push(reached)
    return files.append('a', { offset, source, maxBytes: 1e9, signal, onDurable, ...piece })
  }
  return { dir, clock, files, durable, append }
}

async function* bytes(...chunks: (string | Uint8Array | Error)[]) {
  for (const chunk of chunks) {
    if (chunk instanceof Error) throw chunk
    yield Buffer.from(chunk)
  }
}

test('a file grows piece by piece, for this user alone', async () => {
  const { dir, files, durable, append } = await openFolder()
  expect(await files.size('a')).toBe(0)
  expect(await append(0, bytes('one ', 'two '))).toBe(8)
  expect(await append(8, bytes('three'))).toBe(13)
  expect(durable).toEqual([8, 13])
  expect(await text(await files.read('a'))).toBe('one two three')
  expect((await stat(dir)).mode & 0o777).toBe(0o700)
  expect((await stat(join(dir, 'a'))).mode & 0o777).toBe(0o600)
})

test('what lies beyond the offset is cut off', async () => {
  const { dir, append } = await openFolder()
  await append(0, bytes('a long first piece'))
  await append(2, bytes('XY'))
  expect(await readFile(join(dir, 'a'), 'utf8')).toBe('a XY')
})

test('keeps what arrived before the source fails', async () => {
  const { durable, append, files } = await openFolder()
  await expect(append(0, bytes('abc', new Error('cut')))).rejects.toThrow('cut')
  expect([await files.size('a'), durable]).toEqual([3, [3]])
})

test('keeps what arrived before an abort, while the source hangs', async () => {
  const { durable, append } = await openFolder()
  const controller = new AbortController()
  async function* hanging() {
    yield Buffer.from('abcd')
    controller.abort(new Error('enough'))
    await new Promise(() => {})
  }
  await expect(append(0, hanging(), { signal: controller.signal })).rejects.toThrow('enough')
  expect(durable).toEqual([4])
})

test('takes not one byte too many', async () => {
  const { files, append } = await openFolder()
  await expect(append(0, bytes('abc', 'def'), { maxBytes: 5 })).rejects.toMatchObject({ code: 'E-TOOLARGE' })
  expect(await files.size('a')).toBe(3)
})

test('tells of what is durable while more arrives', async () => {
  const { durable, append } = await openFolder()
  const mebibyte = new Uint8Array(1024 * 1024)
  await append(0, bytes(...Array.from({ length: 18 }, () => mebibyte)))
  expect(durable).toEqual([8, 16, 18].map((count) => count * mebibyte.byteLength))
})

test('stops when it is not wanted that something is durable', async () => {
  const { append } = await openFolder()
  const onDurable = () => Promise.reject(new Error('overtaken'))
  await expect(append(0, bytes('abc'), { onDurable })).rejects.toThrow('overtaken')
})

test('sweeps what has not grown for long', async () => {
  const { clock, files, append } = await openFolder()
  await append(0, bytes('abc'))
  clock.advance(1000)
  expect(await files.sweep(2000)).toBe(0)
  clock.advance(1001)
  expect(await files.sweep(2000)).toBe(1)
  await files.remove('a')
  expect(await files.size('a')).toBe(0)
})

test('no text of a caller becomes a path', async () => {
  const { files } = await openFolder()
  for (const name of ['../a', '', 'a/b', 'a.b']) await expect(files.size(name)).rejects.toThrow(TypeError)
})
