import type { FileId } from '@kith/protocol'
import { expect, test } from 'vitest'
import { eachDialect } from '#harness/each-dialect.ts'
import { snapshotOf } from '#harness/fake-contents.ts'
import {
  alice,
  aliceTag,
  bob,
  bobTag,
  type FilesLab,
  failureOf,
  filesLab,
  identity,
  type Sent,
} from '#harness/files-lab.ts'
import { Failure } from '#lib/failure.ts'
import { addSharedFile } from '../copies/shared-file.ts'
import { countContent } from './count-content.ts'
import { queueRemovalOfCopy } from './remove-contents.ts'

const owner = identity(aliceTag, alice)
const asBob = identity(bobTag, alice)
const unknown = `f1~${'A'.repeat(43)}`

async function make(lab: FilesLab, fileTp: string, body: object = {}): Promise<string> {
  const made = await lab.send('POST', '/api/files', {
    as: owner,
    json: { fileTp, fileName: 'Plan', ...body },
  })
  return made.json.data.fileId
}

/** A document or a database with two snapshots. */
async function makeOld(lab: FilesLab, fileTp: 'CRDT' | 'RTDB', body: object = {}): Promise<string> {
  const fileId = await make(lab, fileTp, body)
  lab.contents[fileTp].write(alice.tenantId, fileId, 'as it ', 'is')
  lab.contents[fileTp].addSnapshot(alice.tenantId, fileId, snapshotOf(3, 'as it was', aliceTag))
  lab.contents[fileTp].addSnapshot(alice.tenantId, fileId, snapshotOf(8, 'as it became', aliceTag, bobTag))
  return fileId
}

async function share(lab: FilesLab, fileId: string, permission: string) {
  const json = { subjectType: 'U', subjectId: bobTag, permission }
  return await lab.send('POST', `/api/files/${fileId}/shares`, { as: owner, json })
}

eachDialect('The history of a file', (open) => {
  const openLab = filesLab(open)
  const get = (lab: FilesLab, path: string, sent: Sent = {}) =>
    lab.send('GET', `/api/files/${path}`, { as: owner, ...sent })
  const restore = (lab: FilesLab, fileId: string, seq: number, sent: Sent = {}) =>
    lab.send('POST', `/api/files/${fileId}/history/${seq}/restore`, { as: owner, ...sent })

  test('is listed, the newest first, for whoever may write', async () => {
    const lab = await openLab()
    for (const fileTp of ['CRDT', 'RTDB'] as const) {
      const fileId = await makeOld(lab, fileTp)
      const { status, json } = await get(lab, `${fileId}/history`)
      expect([status, json.data]).toEqual([
        200,
        [
          { seq: 8, createdAt: '2023-11-14T22:13:28.000Z', size: 12, writers: [aliceTag, bobTag] },
          { seq: 3, createdAt: '2023-11-14T22:13:23.000Z', size: 9, writers: [aliceTag] },
        ],
      ])
      for (const path of ['history', 'history/3']) {
        expect(failureOf(await get(lab, `${fileId}/${path}`, { as: asBob }))).toBe('404 E-FILE-NOTFOUND')
        expect(failureOf(await lab.send('GET', `/api/files/${fileId}/${path}`))).toBe('404 E-FILE-NOTFOUND')
        expect(failureOf(await get(lab, `${unknown}/${path}`))).toBe('404 E-FILE-NOTFOUND')
      }
      await share(lab, fileId, 'R')
      for (const path of ['history', 'history/3'])
        expect(failureOf(await get(lab, `${fileId}/${path}`, { as: asBob }))).toBe('403 E-AUTH-FORBIDDEN')
      await share(lab, fileId, 'W')
      expect((await get(lab, `${fileId}/history`, { as: asBob })).json.data).toHaveLength(2)
    }
  })

  test('is nothing that bytes and folders have, or copies of what is elsewhere', async () => {
    const lab = await openLab()
    const { fileId: blob } = (await lab.upload('a', 'x')).json.data
    const folder = await make(lab, 'FLDR')
    const document = await makeOld(lab, 'CRDT')
    const copy = { fileId: document as FileId, ownerTag: aliceTag, fileName: 'Plan' }
    const shared = { ...copy, contentType: undefined, expiresAt: undefined }
    await lab.db.transact(bob.tenantId, (tx) => addSharedFile(lab.shareDeps, tx, shared))
    for (const fileId of [blob, folder]) {
      expect(failureOf(await get(lab, `${fileId}/history`))).toBe('409 E-STATE')
      expect(failureOf(await get(lab, `${fileId}/history/1`))).toBe('409 E-STATE')
      expect(failureOf(await restore(lab, fileId, 1))).toBe('409 E-STATE')
    }
    const there = { at: bob, as: identity(bobTag, bob) }
    expect(failureOf(await get(lab, `${document}/history`, there))).toBe('409 E-STATE')
    expect(failureOf(await restore(lab, document, 3, there))).toBe('409 E-STATE')
    expect(failureOf(await get(lab, document, there))).toBe('404 E-FILE-NOTFOUND')
    expect((await lab.remains(bob)).jobs).toBe(0)
  })

  test('gives the bytes of then and of now, which nobody keeps', async () => {
    const lab = await openLab()
    const kinds = { CRDT: ['application/x-crdt', 'ydoc'], RTDB: ['application/x-ndjson', 'jsonl'] } as const
    for (const fileTp of ['CRDT', 'RTDB'] as const) {
      const fileId = await makeOld(lab, fileTp, { visibility: 'P' })
      const [mediaType, ending] = kinds[fileTp]
      const expected = {
        'content-type': mediaType,
        'cache-control': 'private, no-store',
        'accept-ranges': 'none',
        'content-security-policy': "sandbox; default-src 'none'",
        'x-content-type-options': 'nosniff',
      }
      const headers = { range: 'bytes=0-1', 'if-none-match': '*' }
      for (const [path, text, name] of [
        [fileId, 'as it is', `Plan.${ending}`],
        [`${fileId}/history/3`, 'as it was', `Plan.3.${ending}`],
      ] as const) {
        const answer = await get(lab, path, { headers })
        expect([answer.status, answer.body.toString()]).toEqual([200, text])
        expect(answer.headers).toMatchObject(expected)
        expect(answer.headers['content-disposition']).toBe(`attachment; filename="${name}"`)
        expect(answer.headers.etag).toBeUndefined()
        const head = await lab.send('HEAD', `/api/files/${path}`, { as: owner })
        expect([head.status, head.body.length]).toEqual([200, 0])
        expect(head.headers).toMatchObject(expected)
      }
      expect(failureOf(await get(lab, `${fileId}/history/4`))).toBe('404 E-NOTFOUND')
      expect(failureOf(await get(lab, `${fileId}/history/0`))).toBe('400 E-VALIDATION')
    }
    const empty = await make(lab, 'CRDT')
    expect((await get(lab, empty)).body.length).toBe(0)
    await lab.reads.flush()
    const recent = await lab.send('GET', '/api/collections/RCNT', { as: owner })
    expect(recent.json.data).toHaveLength(3)
  })

  test('tells what fails before the first piece, and ends what fails later', async () => {
    const lab = await openLab()
    const fileId = await makeOld(lab, 'CRDT')
    lab.contents.CRDT.present = () => failing()
    expect(failureOf(await get(lab, fileId))).toBe('503 E-UNAVAILABLE')
    lab.contents.CRDT.present = () => failing('first')
    await expect(get(lab, fileId)).rejects.toThrow()
  })

  test('is restored by whoever may write, in their name', async () => {
    const lab = await openLab({ maxStorageBytes: 1000 })
    const fileId = await makeOld(lab, 'CRDT', { visibility: 'P' })
    lab.clock.advance(60_000)
    expect(failureOf(await lab.send('POST', `/api/files/${fileId}/history/3/restore`))).toBe(
      '401 E-AUTH-UNAUTH',
    )
    expect(failureOf(await restore(lab, fileId, 3, { as: asBob }))).toBe('403 E-AUTH-FORBIDDEN')
    expect(failureOf(await restore(lab, fileId, 4))).toBe('404 E-NOTFOUND')
    expect(failureOf(await restore(lab, unknown, 4))).toBe('404 E-FILE-NOTFOUND')
    expect(lab.events).toEqual([])
    await share(lab, fileId, 'W')
    const answer = await restore(lab, fileId, 3, { as: asBob })
    expect([answer.status, answer.json.data]).toEqual([200, { fileId, seq: 9 }])
    const { tenantId } = alice
    expect(lab.contents.CRDT.restored).toMatchObject([
      { tenantId, fileId, seq: 3, by: bobTag, limits: { maxStorageBytes: 1000 } },
    ])
    expect(lab.events).toEqual([{ kind: 'file.updated', fileId, to: [aliceTag] }])
    const list = await lab.send('GET', '/api/files?sort=modified', { as: owner })
    expect(list.json.data[0].fileId).toBe(fileId)
    expect((await get(lab, fileId)).body.toString()).toBe('as it was')
    const guest = await lab.makeHolder(fileId, 'write')
    expect((await restore(lab, fileId, 8, { as: guest })).status).toBe(200)
    expect(lab.contents.CRDT.restored.at(-1)?.by).toBeUndefined()
  })

  test('is not restored in the trash', async () => {
    const lab = await openLab()
    const fileId = await makeOld(lab, 'RTDB')
    await lab.send('DELETE', `/api/files/${fileId}`, { as: owner })
    expect(failureOf(await restore(lab, fileId, 3))).toBe('409 E-STATE')
    expect(lab.contents.RTDB.restored).toEqual([])
  })
})

async function* failing(...pieces: string[]): AsyncGenerator<Uint8Array> {
  for (const piece of pieces) yield Buffer.from(piece)
  throw new Failure('E-UNAVAILABLE')
}

eachDialect('What documents and databases contain', (open) => {
  const openLab = filesLab(open)
  const count = (lab: FilesLab, fileId: string, bytes: number) =>
    lab.db.transact(alice.tenantId, (tx) =>
      countContent(tx, { fileId: fileId as FileId, bytes, limits: lab.settings.limits, now: 0 }),
    )
  const sizeOf = async (lab: FilesLab, fileId: string) =>
    (await lab.send('GET', `/api/files/${fileId}/metadata`, { as: owner })).json.data.size
  const remove = async (lab: FilesLab, fileId: string) => {
    await lab.send('DELETE', `/api/files/${fileId}`, { as: owner })
    await lab.send('DELETE', `/api/files/${fileId}?permanent=true`, { as: owner })
  }

  test('is counted as the size of the file, and against the quota', async () => {
    const lab = await openLab({ maxStorageBytes: 100 })
    const fileId = await make(lab, 'CRDT')
    await count(lab, fileId, 60)
    await count(lab, fileId, 40)
    await expect(count(lab, fileId, 1)).rejects.toMatchObject({ code: 'E-QUOTA' })
    expect([await sizeOf(lab, fileId), await lab.usage()]).toEqual([100, { used_bytes: 100, files: 1 }])
    expect(failureOf(await lab.upload('a', 'x'))).toBe('507 E-QUOTA')
    lab.settings.limits = { ...lab.settings.limits, maxStorageBytes: 10 }
    await count(lab, fileId, -30)
    expect([await sizeOf(lab, fileId), (await lab.usage())?.used_bytes]).toEqual([70, 70])
    await count(lab, fileId, -1000)
    expect([await sizeOf(lab, fileId), (await lab.usage())?.used_bytes]).toEqual([0, 0])
    expect(await lab.inconsistencies()).toEqual([])
  })

  test('is not counted for what is gone, or is no document', async () => {
    const lab = await openLab()
    const { fileId: blob } = (await lab.upload('a', 'x')).json.data
    for (const fileId of [unknown, blob, await make(lab, 'FLDR')]) await count(lab, fileId, 50)
    expect((await lab.usage())?.used_bytes).toBe(1)
    expect(await sizeOf(lab, blob)).toBe(1)
  })

  test('is off the usage at once when the file goes for good, and follows it in portions', async () => {
    const lab = await openLab()
    const folder = await make(lab, 'FLDR')
    const document = await make(lab, 'CRDT', { parentId: folder })
    const database = await make(lab, 'RTDB', { parentId: folder })
    const kept = await make(lab, 'CRDT')
    for (const fileId of [document, database, kept]) await count(lab, fileId, 10)
    const rows = Array.from({ length: 250 }, () => 'row')
    lab.contents.CRDT.write(alice.tenantId, document, ...rows)
    lab.contents.RTDB.write(alice.tenantId, database, ...rows)
    lab.contents.CRDT.write(alice.tenantId, kept, 'row')
    await lab.send('DELETE', `/api/files/${folder}`, { as: owner })
    expect((await lab.usage())?.used_bytes).toBe(30)
    await lab.send('DELETE', '/api/trash', { as: owner })
    expect(await lab.usage()).toEqual({ used_bytes: 10, files: 1 })
    expect(await lab.inconsistencies()).toEqual([])
    // A socket may have it open for some seconds more.
    await lab.settle()
    expect(lab.contents.CRDT.rowsOf(alice.tenantId, document)).toBe(250)
    lab.clock.advance(60_000)
    await lab.settle()
    expect(lab.contents.CRDT.rowsOf(alice.tenantId, document)).toBe(0)
    expect(lab.contents.RTDB.rowsOf(alice.tenantId, database)).toBe(0)
    expect(lab.contents.CRDT.rowsOf(alice.tenantId, kept)).toBe(1)
  })

  test('of a copy goes a day later, unless it has become a file', async () => {
    const lab = await openLab()
    const made = await make(lab, 'RTDB')
    for (const fileId of [made, unknown] as FileId[]) {
      lab.contents.RTDB.write(alice.tenantId, fileId, 'row')
      await lab.db.transact(alice.tenantId, (tx) =>
        queueRemovalOfCopy({ jobs: lab.jobs, clock: lab.clock }, tx, { fileTp: 'RTDB', fileId }),
      )
    }
    const rows = () => [made, unknown].map((fileId) => lab.contents.RTDB.rowsOf(alice.tenantId, fileId))
    lab.clock.advance(86_399_000)
    await lab.settle()
    expect(rows()).toEqual([1, 1])
    lab.clock.advance(1000)
    await lab.settle()
    expect(rows()).toEqual([1, 0])
  })

  test('asks for no job where a file has none', async () => {
    const lab = await openLab()
    await remove(lab, await make(lab, 'FLDR'))
    expect((await lab.remains()).jobs).toBe(0)
    await remove(lab, await make(lab, 'CRDT'))
    expect((await lab.remains()).jobs).toBe(1)
  })
})
