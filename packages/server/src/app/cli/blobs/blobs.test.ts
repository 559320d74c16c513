import { cp, readdir, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { uploadFile } from '@kith/protocol'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { CommandLine } from '#harness/command-line.ts'
import { TestServer } from '#harness/test-server.ts'

const baseTag = 'home.localhost'
const contents = ['first', 'the second', 'and a third one']

let source: CommandLine
let line: CommandLine
let blobs: string

/** A server with three files, as it lies on the disk. */
beforeAll(async () => {
  source = await CommandLine.open()
  await using server = await TestServer.start({ dataDir: source.dataDir })
  const client = await server.as(baseTag)
  for (const content of contents)
    await client.upload(uploadFile, {
      params: { preset: 'raw', fileName: 'note.txt' },
      body: new Blob([content], { type: 'text/plain' }),
    })
  await server.settle()
})
afterAll(() => source[Symbol.asyncDispose]())

beforeEach(async () => {
  line = await CommandLine.open()
  await cp(source.dataDir, line.dataDir, { recursive: true })
  blobs = join(line.dataDir, 'blobs')
  return () => line[Symbol.asyncDispose]()
})

/** The files with bytes below a directory. */
async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile())
  return files.map((entry) => join(entry.parentPath, entry.name).slice(folder.length)).sort()
}

const pathOf = async (at: number) => blobs + ((await filesBelow(blobs))[at] ?? '')
const verify = async (...words: string[]) => {
  const { exitCode, out } = await line.run(['blobs', 'verify', ...words, '--json'])
  return { exitCode, ...JSON.parse(out) }
}

describe('blobs verify', () => {
  test('finds nothing wrong', async () => {
    expect(await verify('--deep')).toEqual({
      exitCode: 0,
      deep: true,
      blobs: 3,
      bytes: contents.join('').length,
      contents: { files: 0, snapshots: 0 },
      found: { missing: 0, damaged: 0, orphaned: 0, unreadable: 0 },
      problems: [],
    })
    expect((await line.run(['blobs', 'verify', '--tenant', baseTag])).out).toBe(
      'Looked at 3 blobs of 30 bytes: 0 missing, 0 damaged, 0 orphaned.\n',
    )
  })

  test('finds what is missing', async () => {
    await rm(await pathOf(0))
    expect(await verify()).toMatchObject({
      exitCode: 1,
      found: { missing: 1, damaged: 0 },
      problems: [{ kind: 'missing', tenant: baseTag, hash: expect.stringMatching(/^[0-9a-f]{64}$/) }],
    })
    const { exitCode, out } = await line.run(['blobs', 'verify'])
    expect(exitCode).toBe(1)
    expect(out).toMatch(/1 missing, .*\n {2}missing {2}home\.localhost {2}[0-9a-f]{64} {2}\d+ bytes\n$/)
  })

  test('finds another length at once, and other bytes of the same length when it reads them', async () => {
    await truncate(await pathOf(0), 2)
    expect(await verify()).toMatchObject({ exitCode: 1, found: { damaged: 1 } })
    const path = await pathOf(1)
    const { size } = await stat(path)
    await writeFile(path, 'x'.repeat(size))
    expect(await verify()).toMatchObject({ found: { damaged: 1 } })
    expect(await verify('--deep')).toMatchObject({ exitCode: 1, found: { damaged: 2 } })
  })

  test('fails for nobody', async () => {
    expect((await line.run(['blobs', 'verify', '--tenant', 'nobody.localhost'])).exitCode).toBe(1)
    expect((await line.run(['blobs', 'verify', '--tenant', 'nobody'])).exitCode).toBe(2)
  })
})

describe('blobs migrate', () => {
  test('copies what is not there yet, so that the server can go on from the new place', async () => {
    const target = join(line.folder, 'elsewhere')
    const place = `file:${target}`
    expect(await line.json('blobs', 'migrate', '--to', place)).toEqual({
      to: place,
      copied: { count: 3, bytes: 30 },
      present: 0,
      damaged: 0,
      problems: [],
    })
    expect(await filesBelow(target)).toEqual(await filesBelow(blobs))
    expect((await line.run(['blobs', 'migrate', '--to', place])).out).toBe(
      `Copied 0 blobs of 0 bytes to ${place}; 3 were there already, 0 are damaged.\n`,
    )
    await rm(blobs, { recursive: true })
    expect((await line.with({ BLOB_STORE: place }).json('blobs', 'verify', '--deep')).blobs).toBe(3)
  })

  test('leaves damaged bytes behind, and says so', async () => {
    const damaged = await pathOf(0)
    await writeFile(damaged, 'something else')
    const target = join(line.folder, 'elsewhere')
    const { exitCode, out } = await line.run(['blobs', 'migrate', '--to', `file:${target}`, '--json'])
    expect(exitCode).toBe(1)
    expect(JSON.parse(out)).toMatchObject({
      copied: { count: 2 },
      damaged: 1,
      problems: [{ tenant: baseTag, hash: damaged.slice(-65).replace('/', '') }],
    })
    expect(await filesBelow(target)).toHaveLength(2)
  })

  test.each([
    [[], '--to is missing'],
    [['--to', '/srv/blobs'], '--to must begin with file: or s3://'],
    [['--to', 's3://bucket'], '--to is needed when BLOB_STORE is s3:'],
  ])('called wrongly copies nothing: %j', async (words, message) => {
    const failed = await line.fails('blobs', 'migrate', ...words)
    expect(failed).toMatchObject({ exitCode: 2, message: expect.stringContaining(message) })
  })

  test('does not copy a place to itself', async () => {
    const { exitCode, err } = await line.run(['blobs', 'migrate', '--to', `file:${blobs}`])
    expect(exitCode).toBe(2)
    expect(err).toContain('is where the bytes are already')
  })
})
