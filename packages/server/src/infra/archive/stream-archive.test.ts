import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { unpackTar } from 'modern-tar'
import { expect, test } from 'vitest'
import { streamArchive } from './index.ts'

const mebibyte = new Uint8Array(1024 * 1024)
const endMarks = Buffer.alloc(1024)

test('gives what is added while it is read', async () => {
  const archive = streamArchive(async (sink) => {
    await sink.add('first', Buffer.from('one'))
    await sink.add('second', { size: mebibyte.length, bytes: Readable.from([mebibyte]) })
  })
  const whole = await buffer(archive)
  const entries = await unpackTar(whole)
  expect(entries.map(({ header, data }) => [header.name, data?.length])).toEqual([
    ['first', 3],
    ['second', mebibyte.length],
  ])
  expect(whole.subarray(-1024)).toEqual(endMarks)
})

test('that fails in the middle has no end', async () => {
  const archive = streamArchive(async (sink) => {
    await sink.add('first', Buffer.from('one'))
    throw new Error('the store is gone')
  })
  const read: Buffer[] = []
  const reading = (async () => {
    for await (const chunk of archive) read.push(chunk as Buffer)
  })()
  await expect(reading).rejects.toThrow('the store is gone')
  expect(Buffer.concat(read).subarray(-1024).equals(endMarks)).toBe(false)
})

test('goes no further than some MiB ahead of its reader, and closes its source when the reader leaves', async () => {
  let given = 0
  const source = Readable.from(
    (async function* () {
      for (;;) {
        given += 1
        yield mebibyte
      }
    })(),
  )
  const archive = streamArchive((sink) => sink.add('huge', { size: 10 ** 12, bytes: source }))
  await new Promise((resolve) => archive.once('readable', resolve))
  archive.read(1)
  await expect.poll(() => given).toBeGreaterThan(4)
  await new Promise((resolve) => setImmediate(resolve))
  expect(given).toBeLessThan(40)
  const closed = new Promise((resolve) => source.once('close', resolve))
  archive.destroy()
  await closed
})
