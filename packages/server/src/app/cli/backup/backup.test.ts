import { chmod, copyFile, mkdir, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createAction, getAction, uploadFile } from '@kith/protocol'
import { packTar, unpackTar } from 'modern-tar'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CommandLine } from '#harness/command-line.ts'
import { TestServer } from '#harness/test-server.ts'

const baseTag = 'home.localhost'
const writersAtOnce = 3
const writesBefore = 12

interface Written {
  readonly actionId: string
  readonly fileId: string
  readonly text: string
}

let source: CommandLine
let masterKey: string
/** Of a server that went on being written to, with its key and without. */
let withKey: string
let withoutKey: string
/** What had been acknowledged when the first backup began. */
let acknowledged: readonly Written[]

beforeAll(async () => {
  source = await CommandLine.open()
  withKey = join(source.folder, 'with-key.tar')
  withoutKey = join(source.folder, 'without-key.tar')
  await using server = await TestServer.start({ dataDir: source.dataDir })
  masterKey = await readFile(join(source.dataDir, 'master.key'), 'utf8')
  const written: Written[] = []
  const ending = new AbortController()
  const enough = Promise.withResolvers<void>()
  const client = await server.as(baseTag)
  const write = async (text: string) => {
    const { data: file } = await client.upload(uploadFile, {
      params: { preset: 'raw', fileName: 'note.txt' },
      body: new Blob([text], { type: 'text/plain' }),
    })
    const body = { type: 'POST' as const, content: { text }, attachments: [file.fileId] }
    const { data } = await client.call(createAction, { body })
    written.push({ actionId: data.actionId, fileId: file.fileId, text })
    if (written.length === writesBefore) enough.resolve()
  }
  const writers = Array.from({ length: writersAtOnce }, async (_, writer) => {
    for (let at = 0; !ending.signal.aborted; at += 1) await write(`${writer}: ${at}`)
  })
  await enough.promise
  acknowledged = [...written]
  const { tenants, blobs, warnings } = await source.json('backup', '--to', withKey, '--with-master-key')
  expect(tenants).toBe(1)
  expect(blobs.count).toBeGreaterThanOrEqual(acknowledged.length)
  expect(warnings).toEqual([
    'It holds the master key: this file gives access to every identity of the server.',
  ])
  const later = written.length
  await source.json('backup', '--to', withoutKey)
  expect(later).toBeGreaterThan(acknowledged.length)
  ending.abort()
  await Promise.all(writers)
})
afterAll(() => source[Symbol.asyncDispose]())

/** Another machine, with nothing on it. */
const elsewhere = () => CommandLine.open()

const restore = async (line: CommandLine, path: string, ...options: string[]) => {
  const { exitCode, out, err } = await line.run(['restore', path, ...options, '--json'])
  return exitCode === 0 ? { exitCode, ...JSON.parse(out) } : { exitCode, out, ...JSON.parse(err).error }
}

/** A backup with something changed in it. */
async function rewrite(name: string, change: (files: Map<string, Buffer>) => void): Promise<string> {
  const entries = await unpackTar(await readFile(withKey))
  const files = new Map(entries.map(({ header, data }) => [header.name, Buffer.from(data ?? [])]))
  change(files)
  const path = join(source.folder, `${name}.tar`)
  const packed = [...files].map(([file, body]) => ({ header: { name: file, size: body.length }, body }))
  await writeFile(path, await packTar(packed))
  return path
}

describe('a backup', () => {
  test('of a running server that is written to holds every acknowledged write', async () => {
    await using line = await elsewhere()
    const { restored, backup, tenants, replaced } = await restore(line, withKey)
    expect({ restored, tenants, replaced }).toEqual({ restored: true, tenants: 1, replaced: [] })
    expect(backup).toMatchObject({ baseIdTag: baseTag, database: 'sqlite', withMasterKey: true })
    expect(await readFile(join(line.dataDir, 'master.key'), 'utf8')).toBe(masterKey)
    expect((await readdir(line.dataDir)).filter((name) => name.startsWith('.'))).toEqual([])
    const { exitCode, out } = await line.run(['blobs', 'verify', '--deep'])
    expect({ exitCode, out }).toMatchObject({
      exitCode: 0,
      out: expect.stringContaining('0 missing, 0 damaged'),
    })

    await using server = await TestServer.start({ dataDir: line.dataDir })
    const token = await server.signIn(baseTag)
    const client = server.client(baseTag, token)
    for (const { actionId, fileId, text } of acknowledged) {
      const { data } = await client.call(getAction, { params: { actionId: actionId as never } })
      expect(data.content).toEqual({ text })
      const bytes = await server.request(baseTag, `/api/files/${fileId}?token=${token}`)
      expect(await bytes.text()).toBe(text)
    }
  })

  test('is for its owner’s eyes', async () => {
    expect((await stat(withKey)).mode & 0o077).toBe(0)
    expect((await readdir(source.folder)).sort()).toEqual(['data', 'with-key.tar', 'without-key.tar'])
  })

  test('holds the master key only when it is asked for, and prints it never', async () => {
    expect(await readFile(withKey, 'latin1')).toContain(masterKey.trim())
    expect(await readFile(withoutKey, 'latin1')).not.toContain(masterKey.trim())
    await using line = await elsewhere()
    const { out, err } = await line.run(['restore', withKey, '--check'])
    expect(out + err).not.toContain(masterKey.trim())
  })

  test('goes to a name made of the time when it is given a directory', async () => {
    const { path } = await source.json('backup', '--to', source.dataDir)
    expect(path).toMatch(/\/data\/kith-\d{8}T\d{6}Z\.tar$/)
    await rm(path)
  })

  test('replaces no file', async () => {
    const { exitCode, err } = await source.run(['backup', '--to', withKey])
    expect(exitCode).toBe(1)
    expect(err).toContain(withKey)
  })

  test('is not restored from a file that is not there', async () => {
    const missing = join(source.folder, 'nothere.tar')
    const { exitCode, err } = await source.run(['restore', missing])
    expect(exitCode).toBe(1)
    expect(err).toBe(`There is no file ${missing}.\n`)
  })

  test('of nothing fails and makes nothing', async () => {
    await using line = await elsewhere()
    const { exitCode, err } = await line.run(['backup', '--to', join(line.folder, 'x.tar')])
    expect({ exitCode, err }).toEqual({
      exitCode: 1,
      err: `There is no server in ${line.dataDir} yet: nothing to back up.\n`,
    })
    expect(await readdir(line.folder)).toEqual([])
  })

  test('that is interrupted leaves nothing', async () => {
    const path = join(source.folder, 'interrupted.tar')
    const signal = AbortSignal.abort(new Error('enough'))
    expect(await source.run(['backup', '--to', path], { signal })).toMatchObject({
      exitCode: 1,
      err: 'enough\n',
    })
    expect((await readdir(source.folder)).sort()).toEqual(['data', 'with-key.tar', 'without-key.tar'])
  })

  test('into a folder that is not there is called wrongly, and makes nothing', async () => {
    const missing = join(source.folder, 'bk')
    for (const [to, folder] of [
      [`${missing}/`, missing],
      [join(missing, 'x.tar'), missing],
      ['/dev/null/x.tar', '/dev/null'],
    ] as const) {
      const { exitCode, err } = await source.run(['backup', '--to', to])
      expect(exitCode).toBe(2)
      expect(err).toContain(`There is no folder ${folder}: make it first`)
    }
    expect((await readdir(source.folder)).sort()).toEqual(['data', 'with-key.tar', 'without-key.tar'])
  })
})

describe('restore', () => {
  test('without the master key refuses, and goes on once it is there', async () => {
    await using line = await elsewhere()
    const keyFile = join(line.dataDir, 'master.key')
    expect(await restore(line, withoutKey)).toMatchObject({
      exitCode: 1,
      code: 'E-STATE',
      message: `The backup holds no master key. Put the key of the server at ${keyFile} first, readable by its owner only.`,
    })
    expect(await readdir(line.folder)).toEqual([])
    await mkdir(line.dataDir, { mode: 0o700 })
    await writeFile(keyFile, masterKey, { mode: 0o600 })
    expect(await restore(line, withoutKey)).toMatchObject({ exitCode: 0, restored: true })
    expect((await line.json('tenant', 'list')).tenants).toHaveLength(1)
  })

  test('with another master key refuses and leaves everything as it was', async () => {
    await using line = await elsewhere()
    await mkdir(line.dataDir, { mode: 0o700 })
    await writeFile(join(line.dataDir, 'master.key'), Buffer.alloc(32, 3).toString('base64'), { mode: 0o600 })
    expect(await restore(line, withoutKey)).toMatchObject({
      exitCode: 1,
      code: 'E-VALIDATION',
      message: 'This backup cannot be used: it was written with another master key.',
    })
    expect(await readdir(line.dataDir)).toEqual(['master.key'])
  })

  test('with --check changes nothing', async () => {
    await using line = await elsewhere()
    expect(await restore(line, withKey, '--check')).toMatchObject({
      exitCode: 0,
      restored: false,
      tenants: 1,
    })
    expect(await readdir(line.folder)).toEqual([])
  })

  test('moves what is there aside, and only when it is told to', async () => {
    await using line = await elsewhere()
    await (await TestServer.start({ dataDir: line.dataDir })).stop()
    const before = await readFile(join(line.dataDir, 'master.key'), 'utf8')
    expect(await restore(line, withKey)).toMatchObject({
      exitCode: 1,
      code: 'E-STATE',
      message: expect.stringMatching(/^There is something already: .* With --force it is moved aside\.$/),
    })
    const { exitCode, replaced } = await restore(line, withKey, '--force')
    expect(exitCode).toBe(0)
    const [folder = ''] = replaced
    expect(await readFile(join(folder, 'master.key'), 'utf8')).toBe(before)
    expect(await readdir(folder)).toContain('kith.db')
    expect(await readFile(join(line.dataDir, 'master.key'), 'utf8')).toBe(masterKey)
    expect((await line.json('blobs', 'verify')).found.missing).toBe(0)
  })

  const damages: Record<string, (files: Map<string, Buffer>) => void> = {
    'has no end': (files) => files.delete('manifest.json'),
    'lacks a blob': (files) =>
      files.delete([...files.keys()].find((name) => name.startsWith('blobs/')) ?? ''),
    'has other bytes': (files) =>
      files.set([...files.keys()].find((name) => name.startsWith('blobs/')) ?? '', Buffer.from('other')),
    'has another database': (files) => files.get('kith.db')?.fill(7, 8192, 8200),
    'is of a later program': (files) =>
      files.set('about.json', Buffer.from('{"format":"kith-backup","formatVersion":2}')),
    'has a strange file': (files) => files.set('blobs/../../evil', Buffer.from('x')),
  }
  test.each(Object.keys(damages))('refuses a backup that %s, and leaves nothing', async (name) => {
    const path = await rewrite(name.replaceAll(' ', '-'), (files) => {
      const manifest = files.get('manifest.json')
      damages[name]?.(files)
      if (!files.delete('manifest.json')) return
      if (manifest) files.set('manifest.json', manifest)
    })
    await using line = await elsewhere()
    expect(await restore(line, path)).toMatchObject({ exitCode: 1, code: 'E-VALIDATION' })
    expect(await readdir(line.folder)).toEqual([])
  })

  test('that is refused leaves an empty directory that was there', async () => {
    await using line = await elsewhere()
    const none = join(line.folder, 'none.tar')
    await writeFile(none, 'no tar file at all')
    await mkdir(line.dataDir, { mode: 0o700 })
    for (const path of [withoutKey, none]) expect(await restore(line, path)).toMatchObject({ exitCode: 1 })
    expect(await restore(line, withKey, '--check')).toMatchObject({ exitCode: 0 })
    expect(await readdir(line.dataDir)).toEqual([])
  })

  test('refuses the backup of another base identity, checked or not', async () => {
    await using line = await elsewhere()
    const other = line.with({ BASE_ID_TAG: 'other.localhost' })
    for (const options of [[], ['--check'], ['--force']])
      expect(await restore(other, withKey, ...options)).toMatchObject({
        exitCode: 1,
        code: 'E-VALIDATION',
        message: `This backup cannot be used: it is of ${baseTag}, and BASE_ID_TAG is other.localhost. Set BASE_ID_TAG=${baseTag} first.`,
      })
    expect(await readdir(line.folder)).toEqual([])
  })

  test('refuses a file that was cut off, is none, or is not there', async () => {
    await using line = await elsewhere()
    const cut = join(line.folder, 'cut.tar')
    await copyFile(withKey, cut)
    await chmod(cut, 0o600)
    await truncate(cut, 200_000)
    const none = join(line.folder, 'none.tar')
    await writeFile(none, 'no tar file at all')
    expect(await restore(line, cut)).toMatchObject({ exitCode: 1, code: 'E-VALIDATION' })
    expect(await restore(line, none)).toMatchObject({ exitCode: 1, code: 'E-VALIDATION' })
    expect(await restore(line, join(line.folder, 'gone.tar'))).toMatchObject({
      exitCode: 1,
      code: 'E-NOTFOUND',
    })
    expect(await readdir(line.folder)).toEqual(['cut.tar', 'none.tar'])
  })

  test('goes to a directory, from where bytes are copied to a bucket', async () => {
    await using line = await elsewhere()
    const bucket = { BLOB_STORE: 's3://bucket', S3_ACCESS_KEY_ID: 'id', S3_SECRET_ACCESS_KEY: 'hush' }
    expect(await restore(line.with(bucket), withKey)).toMatchObject({ exitCode: 1, code: 'E-STATE' })
    expect(await readdir(line.folder)).toEqual([])
  })

  test('needs to be told from where, and the same kind of database', async () => {
    await using line = await elsewhere()
    expect((await line.run(['restore'])).exitCode).toBe(2)
    const other = await rewrite('postgres', (files) => {
      const about = JSON.parse(files.get('about.json')?.toString() ?? '')
      files.set('about.json', Buffer.from(JSON.stringify({ ...about, database: 'postgres' })))
    })
    expect(await restore(line, other)).toMatchObject({
      exitCode: 1,
      message: expect.stringContaining('it is of a server on postgres, and DATABASE_URL names sqlite'),
    })
  })
})
