import { once } from 'node:events'
import { readFile, rm } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import type { FileId } from '@kith/protocol'
import { expect, test } from 'vitest'
import { onSqlite } from '#harness/each-dialect.ts'
import {
  alice,
  aliceTag,
  bobTag,
  type FilesLab,
  failureOf,
  filesLab,
  identity,
  type Sent,
} from '#harness/files-lab.ts'
import { unzip } from '#harness/unzip.ts'
import { type Caller, guest } from '#infra/caller/index.ts'
import type { Database } from '#infra/db/index.ts'
import type { Failure } from '#lib/failure.ts'
import { ArchiveTurns } from './archive-turns.ts'
import { maxArchiveEntries } from './plan-archive.ts'
import { serveArchive } from './serve-archive.ts'

const owner = identity(aliceTag, alice)
const visitor = identity(bobTag, alice)

onSqlite('A folder as an archive', (open) => {
  const openLab = filesLab(open)

  async function make(lab: FilesLab, fileTp: string, body: object): Promise<string> {
    const answer = await lab.send('POST', '/api/files', { as: owner, json: { fileTp, ...body } })
    expect(answer.status).toBe(201)
    return answer.json.data.fileId
  }
  async function put(lab: FilesLab, name: string, body: string | Buffer, parentId: string, query = '') {
    const answer = await lab.upload(name, body, { query: `?parentId=${parentId}${query}`, preset: 'raw' })
    expect(answer.status).toBe(201)
    return answer.json.data.fileId as string
  }
  /** Empty folders in one. */
  async function fill(lab: FilesLab, parentId: string, count: number) {
    await lab.db.transact(alice.tenantId, async (tx) => {
      const common = {
        file_tp: 'FLDR',
        status: 'A',
        owner_tag: aliceTag,
        preset: 'default',
        content_type: 'x/y',
      }
      const rows = Array.from({ length: count }, (_, at) => {
        const name = `f${String(at).padStart(42, '0')}`
        const times = { created_at: at, modified_at: at, tags: '[]', size: 0 }
        return {
          ...common,
          ...times,
          tenant_id: alice.tenantId,
          file_id: `d1~${name}`,
          file_name: name,
          parent_id: parentId,
        }
      })
      for (let at = 0; at < rows.length; at += 1000)
        await tx
          .tables<{ files: object }>()
          .insertInto('files')
          .values(rows.slice(at, at + 1000))
          .execute()
    })
  }
  const zipOf = (lab: FilesLab, fileId: string, sent: Sent = {}) =>
    lab.send('GET', `/api/files/${fileId}/zip`, { as: owner, ...sent })
  const share = (lab: FilesLab, fileId: string, permission = 'R') =>
    lab.send('POST', `/api/files/${fileId}/shares`, {
      as: owner,
      json: { subjectType: 'U', subjectId: bobTag, permission },
    })

  test('has all that lies in it, under names that every system takes', async () => {
    const lab = await openLab()
    const trip = await make(lab, 'FLDR', { fileName: 'Trip: 2024' })
    const inner = await make(lab, 'FLDR', { fileName: '...', parentId: trip })
    await make(lab, 'FLDR', { fileName: 'empty', parentId: trip })
    await put(lab, 'a.txt', 'one', trip)
    await put(lab, 'A.txt', 'two', trip)
    await put(lab, 'CON', 'three', inner)
    await put(lab, 'nothing', '', inner)
    const document = await make(lab, 'CRDT', { fileName: 'Minutes', parentId: inner })
    lab.contents.CRDT.write(alice.tenantId, document, 'state')
    const database = await make(lab, 'RTDB', { fileName: 'poll.jsonl', parentId: inner })
    lab.contents.RTDB.write(alice.tenantId, database, '{"a":1}\n')
    await lab.send('DELETE', `/api/files/${await put(lab, 'gone', 'x', trip)}`, { as: owner })

    const { status, headers, body } = await zipOf(lab, trip, { headers: { range: 'bytes=0-9' } })
    expect([status, headers['content-type'], headers['content-disposition']]).toEqual([
      200,
      'application/zip',
      'attachment; filename="Trip: 2024.zip"',
    ])
    expect([headers['cache-control'], headers['accept-ranges']]).toEqual(['private, no-store', 'none'])
    const entries = await unzip(body)
    const texts = [...entries].map(([path, { content }]) => [path, content.toString()])
    expect(texts.toSorted()).toEqual([
      ['A.txt', 'two'],
      ['___/', ''],
      ['___/Minutes.ydoc', 'state'],
      ['___/_CON', 'three'],
      ['___/nothing', ''],
      ['___/poll.jsonl', '{"a":1}\n'],
      ['a (2).txt', 'one'],
      ['empty/', ''],
    ])
    const head = await lab.send('HEAD', `/api/files/${trip}/zip`, { as: owner })
    expect([head.status, head.headers['content-type'], head.body.length]).toEqual([200, 'application/zip', 0])
  })

  test('has several files and folders side by side, once each, and none that may not be read', async () => {
    const lab = await openLab()
    const trip = await make(lab, 'FLDR', { fileName: 'Trip' })
    const other = await make(lab, 'FLDR', { fileName: 'Other' })
    const inner = await put(lab, 'a.txt', 'one', trip)
    const twin = await put(lab, 'A.txt', 'two', other)
    const secret = await put(lab, 'secret.txt', 'three', other)
    const select = (ids: readonly string[], sent: Sent = {}) =>
      lab.send('GET', `/api/files/zip?ids=${ids.join(',')}`, { as: owner, ...sent })
    const { status, headers, body } = await select([inner, trip, twin, inner])
    expect([status, headers['content-type'], headers['content-disposition']]).toEqual([
      200,
      'application/zip',
      'attachment; filename="files.zip"',
    ])
    const entries = await unzip(body)
    expect([...entries].map(([path, { content }]) => [path, content.toString()]).toSorted()).toEqual([
      ['A (2).txt', 'two'],
      ['Trip/', ''],
      ['Trip/a.txt', 'one'],
      ['a.txt', 'one'],
    ])
    await share(lab, trip)
    expect((await select([trip, inner], { as: visitor })).status).toBe(200)
    expect(failureOf(await select([trip, secret], { as: visitor }))).toBe('404 E-FILE-NOTFOUND')
    expect(failureOf(await select(['nothing']))).toBe('404 E-FILE-NOTFOUND')
    expect(failureOf(await select([]))).toBe('400 E-VALIDATION')
    expect(failureOf(await select(Array(101).fill(inner)))).toBe('400 E-VALIDATION')
    await lab.send('DELETE', `/api/files/${secret}`, { as: owner })
    expect(failureOf(await select([inner, secret]))).toBe('409 E-STATE')
  })

  test('has for guests no original of a picture that may say where it was taken', async () => {
    const lab = await openLab()
    const folder = await make(lab, 'FLDR', { fileName: 'Trip', visibility: 'P' })
    const pictures = join(import.meta.dirname, '../../../../test/fixtures/images')
    const photo = await readFile(join(pictures, 'photo.jpg'))
    const upload = (name: string, body: Buffer) =>
      lab.upload(name, body, { query: `?parentId=${folder}&visibility=P`, preset: 'default' })
    await upload('photo.jpg', photo)
    await upload('broken.jpg', photo.subarray(0, 3000))
    await upload('bare.png', await readFile(join(pictures, 'transparent.png')))
    await put(lab, 'photo.webp', 'its name is taken', folder, '&visibility=P')
    await lab.settle()
    const entries = await unzip((await zipOf(lab, folder, { as: guest })).body)
    expect([...entries.keys()].toSorted()).toEqual(['bare.png', 'photo (2).webp', 'photo.webp'])
    expect(entries.get('photo (2).webp')?.content.toString('latin1')).not.toMatch(/exif|gps/i)
    const whole = await unzip((await zipOf(lab, folder, { as: visitor })).body)
    expect(whole.get('photo.jpg')?.content.equals(photo)).toBe(true)
  })

  test('has for others what they may read, and is unknown to who may not read the folder', async () => {
    const lab = await openLab()
    const folder = await make(lab, 'FLDR', { fileName: 'box', visibility: 'P' })
    await put(lab, 'public.txt', 'public', folder, '&visibility=P')
    await put(lab, 'private.txt', 'private', folder)
    const inner = await make(lab, 'FLDR', { fileName: 'inner', parentId: folder })
    await put(lab, 'shared.txt', 'shared', inner)
    const names = async (sent: Sent) =>
      [...(await unzip((await zipOf(lab, folder, sent)).body)).keys()].toSorted()
    expect(await names({ as: visitor })).toEqual(['public.txt'])
    expect(failureOf(await zipOf(lab, inner, { as: visitor }))).toBe('404 E-FILE-NOTFOUND')
    await share(lab, folder)
    const all = ['inner/', 'inner/shared.txt', 'private.txt', 'public.txt']
    expect(await names({ as: visitor })).toEqual(all)
    expect(await names({ as: await lab.makeHolder(folder) })).toEqual(all)
    expect(failureOf(await zipOf(lab, folder, { as: await lab.makeHolder(inner) }))).toBe('200 undefined')
    expect(failureOf(await zipOf(lab, inner))).toBe('200 undefined')
    const narrowed = identity(aliceTag, alice, { scope: 'write:profile' })
    expect(failureOf(await zipOf(lab, folder, { as: narrowed }))).toBe('403 E-AUTH-FORBIDDEN')
  })

  test('is refused for what is no folder, in the trash, unknown, or very large', async () => {
    const lab = await openLab()
    const folder = await make(lab, 'FLDR', { fileName: 'box' })
    const file = await put(lab, 'a.txt', 'x', folder)
    expect(failureOf(await zipOf(lab, file))).toBe('400 E-VALIDATION')
    expect(failureOf(await zipOf(lab, `d1~${'A'.repeat(43)}`))).toBe('404 E-FILE-NOTFOUND')
    const trashed = await make(lab, 'FLDR', { fileName: 'old' })
    await lab.send('DELETE', `/api/files/${trashed}`, { as: owner })
    expect(failureOf(await zipOf(lab, trashed))).toBe('409 E-STATE')
    await fill(lab, folder, maxArchiveEntries)
    expect(failureOf(await zipOf(lab, folder))).toBe('413 E-TOOLARGE')
    expect(lab.errors).toEqual([])
  })

  /** Opens the archive of a folder and notes in which turn of the event loop each query is made. */
  async function observed(lab: FilesLab, fileId: string) {
    let turn = 0
    const turns: number[] = []
    let next = setImmediate(function count() {
      turn += 1
      next = setImmediate(count)
    })
    const reader: Database['reader'] = (tenantId) => {
      const real = lab.db.reader(tenantId)
      const noted = () => {
        turns.push(turn)
        return real
      }
      return {
        ...{ tenantId, dialect: real.dialect },
        tables: () => noted().tables(),
        run: (...query) => noted().run(...query),
        first: (...query) => noted().first(...query),
      }
    }
    const request = new AbortController()
    const { open } = await serveArchive(
      { ...lab.deps, db: { ...lab.db, reader } },
      {
        ...{ tenant: alice, caller: owner, fileId: fileId as FileId, address: '192.0.2.1' },
        signal: request.signal,
      },
    )
    const pass = async (count: number) => {
      for (let at = 0; at < count; at += 1) await new Promise(setImmediate)
    }
    const stop = () => clearImmediate(next)
    return { turns, open, abort: () => request.abort(), pass, stop }
  }

  test('of many folders leaves turns to others while it is planned and made', async () => {
    const lab = await openLab()
    const folder = await make(lab, 'FLDR', { fileName: 'box' })
    await fill(lab, folder, 300)
    const { turns, open, stop } = await observed(lab, folder)
    const entries = await unzip(await buffer(await open()))
    stop()
    expect(entries.size).toBe(300)
    const mostInOneTurn = Math.max(...[...Map.groupBy(turns, (turn) => turn).values()].map((at) => at.length))
    expect(mostInOneTurn).toBeLessThan(20)
  })

  test('is neither planned nor made any further when its reader has gone', async () => {
    const lab = await openLab()
    const folder = await make(lab, 'FLDR', { fileName: 'box' })
    await fill(lab, folder, 300)
    const planned = await observed(lab, folder)
    const opening = planned.open()
    await planned.pass(3)
    planned.abort()
    await expect(opening).rejects.toMatchObject({ code: 'E-UNAVAILABLE' })
    planned.stop()
    expect(planned.turns.length).toBeLessThan(60)

    for (const end of ['abort', 'destroy'] as const) {
      const made = await observed(lab, folder)
      const archive = await made.open()
      await made.pass(3)
      if (end === 'abort') made.abort()
      else archive.destroy()
      await made.pass(3)
      const queries = made.turns.length
      await made.pass(20)
      made.stop()
      expect([end, made.turns.length]).toEqual([end, queries])
    }
    expect(lab.errors).toEqual([])
    // Their turns are free again.
    expect((await zipOf(lab, folder)).status).toBe(200)
  })

  /** A folder with a file larger than all buffers on the way, and one behind it. */
  async function large(lab: FilesLab) {
    const folder = await make(lab, 'FLDR', { fileName: 'box' })
    await put(lab, 'a.bin', Buffer.alloc(24_000_000, 1), folder)
    const second = await put(lab, 'b.txt', 'behind', folder)
    await share(lab, folder)
    const { json } = await lab.send('GET', `/api/files/${folder}/shares`, { as: owner })
    return { folder, second, shareId: json.data[0].id }
  }
  /** An archive of which its reader has had the beginning. */
  async function begun(lab: FilesLab, folder: string) {
    const request = lab.begin('GET', `/api/files/${folder}/zip`, { as: visitor }).end()
    const [response] = (await once(request, 'response')) as [IncomingMessage]
    const pieces: Buffer[] = []
    const first = Promise.withResolvers<void>()
    response.on('data', (piece: Buffer) => {
      if (pieces.push(piece) > 1) return
      response.pause()
      first.resolve()
    })
    await first.promise
    return {
      rest: () =>
        new Promise<Buffer>((resolve, reject) => {
          response.once('error', reject).once('end', () => resolve(Buffer.concat(pieces)))
          response.resume()
        }),
      close: () => request.destroy(),
    }
  }

  test('breaks off, and looks like no whole one, when the folder may not be read any more', async () => {
    const lab = await openLab()
    const { folder, shareId } = await large(lab)
    const archive = await begun(lab, folder)
    await lab.send('DELETE', `/api/files/${folder}/shares/${shareId}`, { as: owner })
    await expect(archive.rest()).rejects.toThrow('aborted')
    expect(lab.errors).toEqual([])
  })

  test('is without a file that was deleted before its turn', async () => {
    const lab = await openLab()
    const { folder, second } = await large(lab)
    const archive = await begun(lab, folder)
    await lab.send('DELETE', `/api/files/${second}`, { as: owner })
    expect([...(await unzip(await archive.rest())).keys()]).toEqual(['a.bin'])
  })

  test('is one of two at a time for an account', async () => {
    const lab = await openLab()
    const { folder } = await large(lab)
    const archives = [await begun(lab, folder), await begun(lab, folder)]
    const third = await zipOf(lab, folder, { as: visitor })
    expect([failureOf(third), third.headers['retry-after']]).toEqual(['429 E-RATELIMIT', '30'])
    expect((await lab.send('HEAD', `/api/files/${folder}/zip`, { as: visitor })).status).toBe(200)
    expect((await zipOf(lab, folder)).status).toBe(200)
    await archives[0]?.rest()
    expect((await zipOf(lab, folder, { as: visitor })).status).toBe(200)
    archives[1]?.close()
  })

  test('takes a turn of guests, of others or of the owner', async () => {
    const lab = await openLab()
    const folder = await make(lab, 'FLDR', { fileName: 'box', visibility: 'P' })
    const few = { total: 16, perAccount: 16, perAddress: 16, unnamed: 16, othersPerTenant: 16, keptFree: 0 }
    const openAs = async (as: Caller, limits: object) => {
      const deps = { ...lab.deps, archiveTurns: new ArchiveTurns(lab.clock, { ...few, ...limits }) }
      const { signal } = new AbortController()
      const question = { tenant: alice, caller: as, fileId: folder as FileId, address: '192.0.2.1', signal }
      const { open } = await serveArchive(deps, question)
      return open().then(
        (archive) => archive.destroy() && 'opened',
        (error: Failure) => error.code,
      )
    }
    const callers = [owner, visitor, guest, await lab.makeHolder(folder)]
    const answers = (limits: object) => Promise.all(callers.map((as) => openAs(as, limits)))
    const refused = 'E-RATELIMIT'
    expect(await answers({ unnamed: 0 })).toEqual(['opened', 'opened', refused, refused])
    expect(await answers({ othersPerTenant: 0 })).toEqual(['opened', refused, refused, refused])
  })

  test('breaks off when its turn goes to another tenant', async () => {
    const lab = await openLab()
    const folder = await make(lab, 'FLDR', { fileName: 'box' })
    const limits = { perAccount: 1, perAddress: 1, unnamed: 1, othersPerTenant: 1, keptFree: 0 }
    const archiveTurns = new ArchiveTurns(lab.clock, { ...limits, total: 1 })
    const { signal } = new AbortController()
    const question = { tenant: alice, caller: owner, fileId: folder as FileId, address: '192.0.2.1', signal }
    const archive = await (await serveArchive({ ...lab.deps, archiveTurns }, question)).open()
    const closed = once(archive, 'close')
    lab.clock.advance(10 * 60_000)
    archiveTurns.enter({ tenantId: 99, standing: 'unnamed', account: undefined, address: '192.0.2.2' })
    await closed
    expect(archive.readableEnded).toBe(false)
  })

  test('breaks off when bytes are missing', async () => {
    const lab = await openLab()
    const { folder } = await large(lab)
    const archive = await begun(lab, folder)
    await rm(join(lab.dir, 'blobs'), { recursive: true })
    await expect(archive.rest()).rejects.toThrow('aborted')
  })
})
