import { mkdtemp, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { packTar } from 'modern-tar'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createArchive, readArchive, readText } from './index.ts'

let folder: string
let path: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kith-archive-'))
  path = join(folder, 'some.tar')
})
afterEach(() => rm(folder, { recursive: true }))

async function* zeros(size: number) {
  for (let left = size; left > 0; left -= 100_000) yield new Uint8Array(Math.min(left, 100_000))
}

async function writeTwo() {
  const archive = await createArchive(path)
  await archive.add('first.json', Buffer.from('{"a":"é"}'))
  await archive.add('blobs/7/second', { size: 1_234_567, bytes: zeros(1_234_567) })
  await archive.add('empty', new Uint8Array())
  return archive
}

test('gives back what was put in, in the same order', async () => {
  expect(await (await writeTwo()).keep()).toBe((await stat(path)).size)
  const read: [string, number, number][] = []
  for await (const { name, size, bytes } of readArchive(path)) {
    let count = 0
    for await (const chunk of bytes) count += chunk.byteLength
    read.push([name, size, count])
  }
  expect(read).toEqual([
    ['first.json', 10, 10],
    ['blobs/7/second', 1_234_567, 1_234_567],
    ['empty', 0, 0],
  ])
})

test('is there as a whole or not at all, for its owner alone', async () => {
  const archive = await writeTwo()
  expect(await readdir(folder)).toEqual(['.some.tar.partial'])
  await archive.keep()
  expect(await readdir(folder)).toEqual(['some.tar'])
  expect((await stat(path)).mode & 0o077).toBe(0)
})

test('leaves nothing behind when it is discarded', async () => {
  await (await writeTwo()).discard()
  expect(await readdir(folder)).toEqual([])
})

test('never replaces a file', async () => {
  await writeFile(path, 'precious')
  await expect(createArchive(path)).rejects.toMatchObject({ code: 'E-STATE' })
  expect(await readFile(path, 'utf8')).toBe('precious')
})

test('refuses a stream of another size than was said', async () => {
  const archive = await createArchive(path)
  await expect(archive.add('short', { size: 10, bytes: zeros(9) })).rejects.toThrow()
  await archive.discard()
})

test('passes over files that nobody reads', async () => {
  await (await writeTwo()).keep()
  const names: string[] = []
  for await (const { name } of readArchive(path)) names.push(name)
  expect(names).toEqual(['first.json', 'blobs/7/second', 'empty'])
})

test.each([700, 500_000, 1_237_000])('is refused when it was cut off after %d bytes', async (length) => {
  await (await writeTwo()).keep()
  await truncate(path, length)
  const readAll = async () => {
    for await (const file of readArchive(path)) await readText(file)
  }
  await expect(readAll()).rejects.toMatchObject({ code: 'E-VALIDATION' })
})

test('is refused when it is none', async () => {
  await writeFile(path, 'x'.repeat(5000))
  const readAll = async () => {
    for await (const file of readArchive(path)) await readText(file)
  }
  await expect(readAll()).rejects.toMatchObject({ code: 'E-VALIDATION' })
  path = join(folder, 'nothing')
  await expect(readAll()).rejects.toMatchObject({ code: 'E-NOTFOUND' })
})

test('with a link in it is refused', async () => {
  await writeFile(
    path,
    await packTar([{ header: { name: 'x', type: 'symlink', linkname: '/etc', size: 0 } }]),
  )
  await expect(readArchive(path).next()).rejects.toMatchObject({ code: 'E-VALIDATION' })
})

test('does not take a failure of its reader for damage', async () => {
  await (await writeTwo()).keep()
  const read = async () => {
    for await (const _ of readArchive(path)) throw new Error('mine')
  }
  await expect(read()).rejects.toThrow('mine')
})
