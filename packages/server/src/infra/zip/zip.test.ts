import { randomBytes } from 'node:crypto'
import type { EventEmitter } from 'node:events'
import { mkdtemp, open, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { crc32, deflateRawSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import { runsOf } from '#harness/property-runs.ts'
import { descriptorFlag, type MadeEntry, u32, utf8Flag, zipArchive } from '#harness/zip-archive.ts'
import { inflateEntry } from './inflate-entry.ts'
import { readZipIndex, zipInMemory } from './read-zip-index.ts'
import { readEntry, verifyEntries } from './verify-entries.ts'
import { type ZipEntry, ZipFault, type ZipPolicy } from './zip-entry.ts'

const policy: ZipPolicy = {
  maxEntries: 20,
  maxInflatedBytes: 1_000_000,
  maxRatio: 200,
  smallBytes: 1_000,
  isPath: (path) => path !== '' && !path.startsWith('/') && !path.includes('..'),
  keyOf: (path) => path.toLowerCase(),
}

async function sourceOf(bytes: Uint8Array) {
  const folder = await mkdtemp(join(tmpdir(), 'kith-zip-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const path = join(folder, 'archive.zip')
  await writeFile(path, bytes)
  const file = await open(path, 'r')
  onTestFinished(() => file.close())
  return { file, size: bytes.length }
}

async function check(bytes: Uint8Array): Promise<ZipEntry[]> {
  const source = await sourceOf(bytes)
  const entries = await readZipIndex(source, policy)
  await verifyEntries(source, entries)
  return entries
}

/** What is wrong, in one word and with its path. */
async function faultOf(bytes: Uint8Array): Promise<string> {
  const error = await check(bytes).then(
    () => new Error('taken'),
    (thrown: Error) => thrown,
  )
  if (!(error instanceof ZipFault)) throw error
  return error.message
}

const page: MadeEntry = { path: 'index.html', bytes: 'Hello, '.repeat(20) }
const noise = randomBytes(200_000)

describe('An archive', () => {
  test('is read as what was put into it', async () => {
    const made = [
      page,
      { path: 'empty' },
      { path: 'deflated nothing', method: 8 },
      { path: 'a/', attributes: (0o040755 << 16) >>> 0 },
      { path: 'a/ö.png', bytes: noise, method: 0, attributes: (0o100644 << 16) >>> 0 },
      { path: 'b/c/d.js', bytes: Buffer.concat([noise, Buffer.alloc(50_000)]) },
    ]
    const source = await sourceOf(zipArchive(made))
    const entries = await readZipIndex(source, policy)
    await verifyEntries(source, entries)
    const files = made.filter(({ path }) => !String(path).endsWith('/'))
    expect(entries.map(({ path }) => path)).toEqual(files.map(({ path }) => path))
    for (const [at, entry] of entries.entries())
      expect(await readEntry(source, entry)).toEqual(Buffer.from(files[at]?.bytes ?? ''))
  })

  test('in memory is read like one on disk, and may have what only looks like an archive', async () => {
    const made = ['P', 'PK', 'PK\x03', 'PK\x03\x05', ' PK\x03\x04'].map((bytes, at) => ({
      path: `${at}`,
      bytes,
    }))
    const source = zipInMemory(zipArchive([...made, { path: 'long', bytes: noise }]))
    const entries = await readZipIndex(source, policy)
    await verifyEntries(source, entries)
    expect(entries).toHaveLength(6)
    expect(`${await readEntry(source, entries[3]!)}`).toBe('PK\x03\x05')
  })

  test('of many large files leaves nothing behind on its handle', async () => {
    const made = Array.from({ length: 12 }, (_, at) => ({ path: `${at}`, bytes: noise.subarray(0, 70_000) }))
    const source = await sourceOf(zipArchive(made))
    await verifyEntries(source, await readZipIndex(source, policy))
    expect((source.file as unknown as EventEmitter).listenerCount('close')).toBe(0)
  })

  test('may have descriptors after its data, and bytes that belong to nothing', async () => {
    const stored = deflateRawSync('x'.repeat(99))
    const words = u32(crc32('x'.repeat(99)), stored.length, 99)
    const descriptor = Buffer.concat([u32(0x08074b50), words])
    const made = { path: 'x', bytes: 'x'.repeat(99), flags: descriptorFlag }
    const local = { crc: 0, size: 0, compressedSize: 0 }
    for (const one of [descriptor, words])
      expect(await check(zipArchive([{ ...made, local, descriptor: one }, page]))).toHaveLength(2)
    expect(await check(zipArchive([page], { before: noise }))).toHaveLength(1)
    const wrong = Buffer.concat([u32(0x08074b50), u32(1, stored.length, 99)])
    expect(await faultOf(zipArchive([{ ...made, local, descriptor: wrong }, page]))).toBe('damaged: x')
    expect(await faultOf(zipArchive([{ ...made, local }]))).toBe('damaged: x')
  })

  test('may have a path in the field of Info-ZIP, for the name that it was written for', async () => {
    const path = Buffer.from('\x81.txt', 'latin1')
    const field = (of: Buffer) => {
      const data = Buffer.concat([Buffer.from([1]), u32(crc32(of)), Buffer.from('ü.txt')])
      return Buffer.concat([Buffer.from([0x75, 0x70, data.length, 0]), data])
    }
    const [entry] = await check(zipArchive([{ path, flags: 0, extra: field(path) }]))
    expect(entry?.path).toBe('ü.txt')
    const other = zipArchive([{ path, flags: 0, extra: field(Buffer.from('other')) }])
    expect(await faultOf(other)).toBe('bad-path: \x81.txt')
  })

  const link = (0o120777 << 16) >>> 0
  const directory = (0o040755 << 16) >>> 0
  const encrypted = { ...page, flags: 1 }
  const zip64 = Buffer.concat([Buffer.from([1, 0, 8, 0]), Buffer.alloc(8)])
  const zeros = Buffer.alloc(100_000)
  const first = zipArchive([page])
  const bomb = { path: 'bomb', stored: deflateRawSync(zeros), method: 8, crc: crc32(zeros), size: 100_000 }
  const lying = { path: 'lie', bytes: 'x'.repeat(500), size: 400 }
  const deep = { path: 'long', bytes: noise }
  const endInComment = zipArchive([page], { comment: zipArchive([]) })

  test.each<[string, string, Uint8Array]>([
    ['nothing', 'not-a-zip', Buffer.alloc(0)],
    ['text', 'not-a-zip', Buffer.from('Hello'.repeat(100))],
    ['cut off', 'not-a-zip', first.subarray(0, -1)],
    ['followed by anything', 'not-a-zip', Buffer.concat([first, Buffer.alloc(1)])],
    ['ended within a comment', 'damaged', endInComment],
    ['with a comment', 'not-a-zip', zipArchive([page], { comment: Buffer.from('comment') })],
    ['with another end in its directory', 'damaged', zipArchive([page], { gap: zipArchive([]) })],
    ['without its first bytes', 'damaged', first.subarray(10)],
    ['with fewer entries than it says', 'damaged', zipArchive([page], { count: 2 })],
    ['with more entries than it says', 'damaged', zipArchive([page, { path: 'b' }], { count: 1 })],
    [
      'of too many entries',
      'too-many-entries',
      zipArchive(Array.from({ length: 21 }, (_, at) => ({ path: `${at}` }))),
    ],
    [
      'of too many bytes',
      'inflated-too-large',
      zipArchive(['a', 'b', 'c', 'd', 'e', 'f'].map((path) => ({ path, bytes: noise }))),
    ],
    ['absolute', 'bad-path: /etc/x', zipArchive([{ path: '/etc/x' }])],
    ['above its root', 'bad-path: ../x', zipArchive([{ path: '../x' }])],
    ['with an absolute directory', 'bad-path: /x', zipArchive([{ path: '/x/' }])],
    ['without a name', 'bad-path: ', zipArchive([{ path: '' }])],
    ['named in bytes', 'bad-path: \xff', zipArchive([{ path: Buffer.from([0xff]), flags: utf8Flag }])],
    ['named in another code', 'bad-path: \x81', zipArchive([{ path: Buffer.from([0x81]), flags: 0 }])],
    ['with a path twice', 'duplicate-path: index.html', zipArchive([page, page])],
    [
      'with paths that differ by case',
      'duplicate-path: INDEX.html',
      zipArchive([page, { path: 'INDEX.html' }]),
    ],
    [
      'with directories that differ by case',
      'duplicate-path: A',
      zipArchive([{ path: 'a/x' }, { path: 'A/y' }]),
    ],
    ['with a directory twice', 'duplicate-path: a', zipArchive([{ path: 'a/' }, { path: 'a/' }])],
    ['with a file that is a directory', 'duplicate-path: a', zipArchive([{ path: 'a' }, { path: 'a/x' }])],
    ['with a directory that is a file', 'duplicate-path: a', zipArchive([{ path: 'a/x' }, { path: 'a' }])],
    ['with a link', 'symlink: x', zipArchive([{ path: 'x', bytes: '/etc', attributes: link }])],
    ['with a link to a directory', 'symlink: x/', zipArchive([{ path: 'x/', attributes: link }])],
    ['with a directory of bytes', 'damaged: x/', zipArchive([{ path: 'x/', bytes: 'y' }])],
    ['encrypted', 'encrypted: index.html', zipArchive([encrypted])],
    ['strongly encrypted', 'encrypted', zipArchive([{ ...page, flags: 0x41 }])],
    ['with a masked directory', 'encrypted: index.html', zipArchive([{ ...page, flags: 0x2000 }])],
    ['compressed otherwise', 'unknown-method: index.html', zipArchive([{ ...page, method: 12 }])],
    ['with fields of zip64', 'zip64: x', zipArchive([{ path: 'x', extra: zip64 }])],
    [
      'with fields of zip64 before the data',
      'zip64: x',
      zipArchive([{ path: 'x', local: { extra: zip64 } }]),
    ],
    ['with many fields', 'damaged: x', zipArchive([{ path: 'x', extra: Buffer.alloc(1028) }])],
    ['of zip64', 'zip64', zipArchive([page], { gap: Buffer.concat([u32(0x07064b50), Buffer.alloc(16)]) })],
    ['too dense', 'ratio: bomb', zipArchive([bomb])],
    ['that says less than a bomb inflates to', 'damaged: bomb', zipArchive([{ ...bomb, size: 900 }])],
    ['that says less than it inflates to', 'damaged: lie', zipArchive([lying])],
    ['that says more', 'damaged: lie', zipArchive([{ ...lying, size: 600 }])],
    ['of other bytes', 'damaged: lie', zipArchive([{ ...lying, size: 500, crc: 1 }])],
    ['that says less of much', 'damaged: long', zipArchive([{ ...deep, size: 199_999 }])],
    ['that says more of much', 'damaged: long', zipArchive([{ ...deep, size: 200_001 }])],
    ['of other bytes among many', 'damaged: long', zipArchive([{ ...deep, crc: 1 }])],
    ['of no deflated bytes', 'damaged: long', zipArchive([{ ...deep, stored: noise }])],
    [
      'with something behind its data',
      'damaged: x',
      zipArchive([
        {
          path: 'x',
          stored: Buffer.concat([deflateRawSync('x'), noise.subarray(0, 9)]),
          method: 8,
          crc: crc32('x'),
          size: 1,
        },
      ]),
    ],
    [
      'with something behind much',
      'damaged: x',
      zipArchive([
        {
          path: 'x',
          stored: Buffer.concat([deflateRawSync(noise), noise]),
          method: 8,
          crc: crc32(noise),
          size: noise.length,
        },
      ]),
    ],
    [
      'with two entries in one place',
      'damaged: other.html',
      zipArchive([page, { ...page, path: 'other.html', offset: 0, local: {} }]),
    ],
    [
      'with an entry in another',
      'damaged',
      zipArchive([
        { path: 'outer', bytes: first, method: 0 },
        { ...page, offset: 35 },
      ]),
    ],
    ['with an entry in its directory', 'damaged', zipArchive([{ ...page, offset: 9_999 }])],
    ['with another name before the data', 'damaged: a', zipArchive([{ path: 'a', local: { path: 'b' } }])],
    [
      'with another method before the data',
      'damaged: index.html',
      zipArchive([{ ...page, local: { method: 0 } }]),
    ],
    [
      'with other flags before the data',
      'damaged: index.html',
      zipArchive([{ ...page, local: { flags: 2 } }]),
    ],
    [
      'with another size before the data',
      'damaged: index.html',
      zipArchive([{ ...page, local: { size: 9 } }]),
    ],
    [
      'with another checksum before the data',
      'damaged: index.html',
      zipArchive([{ ...page, local: { crc: 0 } }]),
    ],
    ['with an archive', 'nested-archive: a.png', zipArchive([page, { path: 'a.png', bytes: first }])],
    ['with an archive of nothing', 'nested-archive: a', zipArchive([{ path: 'a', bytes: zipArchive([]) }])],
    [
      'with a large archive',
      'nested-archive: a',
      zipArchive([{ path: 'a', bytes: Buffer.concat([first, noise]), method: 0 }]),
    ],
    [
      'with a large deflated archive',
      'nested-archive: a',
      zipArchive([{ path: 'a', bytes: Buffer.concat([first, noise]) }]),
    ],
    [
      'with a file that says it is a directory',
      'symlink: x',
      zipArchive([{ path: 'x', attributes: directory }]),
    ],
    ['with a file that DOS has for a directory', 'symlink: x', zipArchive([{ path: 'x', attributes: 0x10 }])],
    [
      'with a directory of bytes that it does not tell of',
      'damaged',
      zipArchive([{ path: 'x/', stored: Buffer.from('y'), method: 0 }]),
    ],
    ['with an offset beyond its end', 'damaged', zipArchive([{ ...page, offset: 0xfffffff0 }])],
    ['with sizes beyond its end', 'ratio: x', zipArchive([{ path: 'x', size: 0xfffffff0, method: 8 }])],
  ])('is refused: %s', async (_, expected, bytes) => {
    expect(await faultOf(bytes)).toBe(expected)
  })

  test('with random faults is refused or taken, and never inflates to more than it says', async () => {
    const good = zipArchive([
      page,
      { path: 'a/', attributes: 0 },
      { path: 'a/b', bytes: noise.subarray(0, 3_000) },
      { path: 'c', bytes: Buffer.alloc(900), method: 0 },
      { path: 'd', bytes: Buffer.concat([Buffer.alloc(5_000), noise.subarray(0, 90_000)]) },
    ])
    const change = fc.record({ at: fc.nat(good.length - 1), to: fc.nat(255) })
    // Most bytes are data; the headers are where parsers differ.
    const late = fc.record({
      at: fc.integer({ min: good.length - 400, max: good.length - 1 }),
      to: fc.nat(255),
    })
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof(change, late), { minLength: 1, maxLength: 4 }),
        fc.option(fc.nat(good.length), { nil: good.length }),
        async (changes, length) => {
          const bytes = Buffer.from(good)
          for (const { at, to } of changes) bytes[at] = to
          const entries = await check(bytes.subarray(0, length)).catch((error: unknown) => {
            expect(error).toBeInstanceOf(ZipFault)
            return []
          })
          const total = entries.reduce((sum, { size }) => sum + size, 0)
          expect(total).toBeLessThanOrEqual(policy.maxInflatedBytes)
        },
      ),
      { numRuns: runsOf(75) },
    )
  })
})

describe('An entry that is served', () => {
  const serve = async (entry: Partial<ZipEntry>, stored: Buffer) => {
    const whole: ZipEntry = {
      path: 'x',
      offset: 0,
      method: 'deflated',
      compressedSize: stored.length,
      size: noise.length,
      crc32: crc32(noise),
      ...entry,
    }
    const received: Buffer[] = []
    const stream = inflateEntry(Readable.from([stored.subarray(0, 99), stored.subarray(99)]), whole)
    const outcome = await (async () => {
      for await (const chunk of stream) received.push(chunk)
      return 'whole'
    })().catch((error: Error) => error.message)
    return { outcome, bytes: Buffer.concat(received) }
  }

  test.each([
    ['deflated', deflateRawSync(noise)],
    ['stored', noise],
  ] as const)('comes as it was: %s', async (method, stored) => {
    const { outcome, bytes } = await serve({ method }, stored)
    expect([outcome, bytes.equals(noise)]).toEqual(['whole', true])
  })

  test.each<[string, Partial<ZipEntry>, Buffer]>([
    ['another checksum', { crc32: 1 }, deflateRawSync(noise)],
    ['another checksum of stored bytes', { method: 'stored', crc32: 1 }, noise],
    ['fewer bytes', { size: 100_000 }, deflateRawSync(noise)],
    ['more bytes', { size: 300_000 }, deflateRawSync(noise)],
    ['a missing end', {}, deflateRawSync(noise).subarray(0, 100_000)],
    ['no deflated bytes', {}, noise],
    ['more behind it', {}, Buffer.concat([deflateRawSync(noise), noise])],
  ])('is never whole with %s', async (_, entry, stored) => {
    const { outcome, bytes } = await serve({ compressedSize: stored.length, ...entry }, stored)
    expect(outcome).toBe('damaged: x')
    expect(bytes.length).toBeLessThan(Math.max(entry.size ?? 0, noise.length))
  })
})
