import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { describe, expect, test } from 'vitest'
import { unzip } from '#harness/unzip.ts'
import { writeZipStream, type ZipPart } from './write-zip-stream.ts'

const text = (path: string, words: string, change: Partial<ZipPart> = {}): ZipPart => ({
  path,
  modifiedAt: Date.UTC(2024, 5, 1) / 1000,
  isCompressed: true,
  open: async () => Readable.from([Buffer.from(words)]),
  ...change,
})
async function* listed(...parts: ZipPart[]) {
  yield* parts
}

describe('A zip archive that is written', () => {
  test('is read again, with its names, times and bytes', async () => {
    const words = 'again and '.repeat(1000)
    const archive = await buffer(
      writeZipStream(
        listed(
          text('Über.txt', words),
          text('a/', ''),
          text('a/stored.bin', words, { isCompressed: false, size: words.length }),
          text('a/empty', ''),
          text('gone', words, { open: async () => undefined }),
        ),
      ),
    )
    const entries = await unzip(archive)
    expect([...entries.keys()]).toEqual(['Über.txt', 'a/', 'a/stored.bin', 'a/empty'])
    expect(entries.get('Über.txt')?.content.toString()).toBe(words)
    expect(entries.get('a/stored.bin')?.content.toString()).toBe(words)
    expect(entries.get('a/stored.bin')?.isStored).toBe(true)
    expect(archive.length).toBeLessThan(words.length * 2)
    for (const { hasUtf8Name, modifiedAt } of entries.values())
      expect([hasUtf8Name, modifiedAt.toISOString()]).toEqual([true, '2024-06-01T00:00:00.000Z'])
  })

  test('has a date that the format can name, whatever the file has', async () => {
    const parts = listed(text('old', 'x', { modifiedAt: 0 }), text('far', 'x', { modifiedAt: 2 ** 40 }))
    const entries = await unzip(await buffer(writeZipStream(parts)))
    expect([...entries.values()].map(({ modifiedAt }) => modifiedAt.getUTCFullYear())).toEqual([1980, 2038])
  })

  test.each<[string, () => AsyncIterable<ZipPart>]>([
    [
      'whose parts end with a failure',
      async function* () {
        yield text('a', 'x')
        throw new Error('no more')
      },
    ],
    [
      'of a part that cannot be opened',
      () => listed(text('a', 'x', { open: () => Promise.reject(new Error('gone')) })),
    ],
    [
      'of a part that breaks off',
      () =>
        listed(
          text('a', 'x', {
            open: async () =>
              Readable.from(
                (async function* () {
                  yield Buffer.from('half')
                  throw new Error('broken')
                })(),
              ),
          }),
        ),
    ],
    ['of a part that is longer than it should be', () => listed(text('a', 'longer', { size: 3 }))],
  ])('%s is not taken for whole', async (_, parts) => {
    const pieces: Buffer[] = []
    const reading = (async () => {
      for await (const piece of writeZipStream(parts())) pieces.push(piece as Buffer)
    })()
    await expect(reading).rejects.toThrow()
    await expect(unzip(Buffer.concat(pieces))).rejects.toThrow()
  })

  test('of folders alone is made no faster than it is read, and no further than that', async () => {
    let made = 0
    let isEnded = false
    async function* folders() {
      try {
        for (; made < 5_000; made += 1) yield text(`${'x'.repeat(200)}${made}/`, '')
      } finally {
        isEnded = true
      }
    }
    const archive = writeZipStream(folders())
    const pass = async (turns: number) => {
      for (let turn = 0; turn < turns; turn += 1) await new Promise(setImmediate)
    }
    await new Promise((resolve) => archive.once('readable', resolve))
    await pass(50)
    const buffered = made
    // Two buffers of 64 KiB, of entries with more than 200 bytes each.
    expect(buffered).toBeLessThan(700)
    while (archive.read() !== null);
    await pass(50)
    expect(made).toBeGreaterThan(buffered)
    expect(made).toBeLessThan(1_400)
    archive.destroy()
    await pass(5)
    expect([isEnded, made < 1_400]).toEqual([true, true])
  })

  test('is made no faster than it is read, and its sources end with it', async () => {
    let made = 0
    const sources: Readable[] = []
    const endless = text('endless', '', {
      isCompressed: false,
      open: async () => {
        const source = Readable.from(
          (async function* () {
            for (;;) {
              made += 1
              yield Buffer.alloc(64 * 1024)
            }
          })(),
          { objectMode: false, highWaterMark: 1 },
        )
        sources.push(source)
        return source
      },
    })
    const archive = writeZipStream(listed(endless))
    await new Promise((resolve) => archive.once('readable', resolve))
    for (let turn = 0; turn < 50; turn += 1) await new Promise(setImmediate)
    expect(made).toBeLessThan(20)
    const closed = new Promise((resolve) => sources[0]?.once('close', resolve))
    archive.destroy()
    await closed
  })
})
