import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { FileId, UsageByKind } from '@kith/protocol'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { eachDialect } from '#harness/each-dialect.ts'
import {
  alice,
  aliceTag,
  bob,
  bobTag,
  club,
  type FilesLab,
  failureOf,
  filesLab,
  identity,
  type Received,
  type Sent,
} from '#harness/files-lab.ts'
import { openDatabase, type TenantId } from '#infra/db/index.ts'
import { sweepBlobs } from './blobs/sweep-blobs.ts'
import { countContent } from './contents/count-content.ts'
import { sumTrash } from './folders/trash-size-store.ts'
import { filesMigrations } from './index.ts'
import { findUsageByKind } from './upload/storage-store.ts'

const owner = identity(aliceTag, alice)
const photo = join(import.meta.dirname, '../../../test/fixtures/images/photo.jpg')

const ask = (lab: FilesLab, sent: Sent) => lab.send('GET', '/api/me/usage/kinds', sent)

async function kindsOf(lab: FilesLab): Promise<Record<string, number>> {
  const { usedBytes, kinds } = (await ask(lab, { as: owner })).json.data as UsageByKind
  expect(kinds.reduce((sum, { bytes }) => sum + bytes, 0)).toBe(usedBytes)
  expect(await lab.inconsistencies()).toEqual([])
  return Object.fromEntries(kinds.filter(({ bytes }) => bytes > 0).map(({ kind, bytes }) => [kind, bytes]))
}

const put = async (lab: FilesLab, contentType: string, bytes: string) =>
  (await lab.upload('x', bytes, { preset: 'raw', headers: { 'content-type': contentType } })).json.data
    .fileId as string

const make = async (lab: FilesLab, fileTp: string, bytes: number) => {
  const { json } = await lab.send('POST', '/api/files', { as: owner, json: { fileTp, fileName: 'x' } })
  const { fileId } = json.data
  const { limits } = lab.settings
  await lab.db.transact(alice.tenantId, (tx) => countContent(tx, { fileId, bytes, limits, now: 0 }))
  return fileId as string
}

async function remove(lab: FilesLab, fileId: string) {
  await lab.send('DELETE', `/api/files/${fileId}`, { as: owner })
  await lab.send('DELETE', `/api/files/${fileId}?permanent=true`, { as: owner })
}

eachDialect('What is stored by kind', (open) => {
  const openLab = filesLab(open)

  test('is told of files, documents, databases and previews, and taken off with them', async () => {
    const lab = await openLab()
    expect(await kindsOf(lab)).toEqual({})
    const files = [
      await put(lab, 'video/mp4', 'film'),
      await put(lab, 'audio/ogg', 'a sound'),
      await put(lab, 'text/plain; charset=utf-8', 'text'),
      await put(lab, 'application/vnd.oasis.opendocument.text', 'open text'),
      await put(lab, 'application/octet-stream', 'anything'),
      await make(lab, 'CRDT', 100),
      await make(lab, 'RTDB', 1_000),
    ]
    const told = { films: 4, sounds: 7, documents: 113, databases: 1_000, others: 8 }
    expect(await kindsOf(lab)).toEqual(told)
    const bytes = await readFile(photo)
    const { fileId } = (await lab.upload('photo.jpg', bytes)).json.data
    await lab.settle()
    const { pictures, previews, ...rest } = await kindsOf(lab)
    expect([pictures, rest]).toEqual([bytes.length, told])
    expect(previews).toBeGreaterThan(0)
    await remove(lab, fileId)
    expect(await kindsOf(lab)).toEqual(told)
    for (const id of files) await remove(lab, id)
    expect(await kindsOf(lab)).toEqual({})
  })

  test('counts the same bytes once, as what they were first and anew once they were gone', async () => {
    const lab = await openLab()
    const first = await put(lab, 'video/mp4', 'bytes')
    const second = await put(lab, 'audio/ogg', 'bytes')
    expect(await kindsOf(lab)).toEqual({ films: 5 })
    await remove(lab, first)
    expect(await kindsOf(lab)).toEqual({ films: 5 })
    await remove(lab, second)
    await put(lab, 'audio/ogg', 'bytes')
    expect(await kindsOf(lab)).toEqual({ sounds: 5 })
  })

  test('says what the trash holds, without folders', async () => {
    const lab = await openLab()
    const folder = await make(lab, 'FLDR', 0)
    for (const name of ['a', 'b'])
      await lab.upload(name, 'hello', { query: `?parentId=${folder}`, preset: 'raw' })
    const trashOf = async () => (await ask(lab, { as: owner })).json.data.trash
    expect(await trashOf()).toEqual({ files: 0, bytes: 0 })
    await lab.send('DELETE', `/api/files/${folder}`, { as: owner })
    await lab.send('DELETE', `/api/files/${await make(lab, 'CRDT', 20)}`, { as: owner })
    await lab.settle()
    expect(await trashOf()).toEqual({ files: 3, bytes: 30 })
    expect(await sumTrash(lab.db.reader(alice.tenantId), 1)).toMatchObject({ files: 1 })
    await lab.send('DELETE', '/api/trash', { as: owner })
    expect(await trashOf()).toEqual({ files: 0, bytes: 0 })
  })

  test('is told to whoever acts for the tenant, and to nobody else', async () => {
    const lab = await openLab()
    const id = await put(lab, 'video/mp4', 'film')
    expect(failureOf(await ask(lab, { as: identity(bobTag, alice) }))).toBe('403 E-AUTH-FORBIDDEN')
    expect(failureOf(await ask(lab, {}))).toBe('401 E-AUTH-UNAUTH')
    expect(failureOf(await ask(lab, { as: await lab.makeHolder(id) }))).toMatch(/^40[13] /)
    const scoped = (scope: string) => ask(lab, { as: identity(aliceTag, alice, { scope }) })
    expect((await scoped('read:files')).status).toBe(200)
    for (const scope of ['read:actions', `file:${id}:read`]) expect((await scoped(scope)).status).toBe(403)
    expect((await ask(lab, { at: bob, as: identity(bobTag, bob) })).json.data.usedBytes).toBe(0)
    const moderator = identity(bobTag, club, { role: 'moderator' })
    expect((await ask(lab, { at: club, as: moderator })).json.data.usedBytes).toBe(0)
  })

  test('lists files by their size, page by page', async () => {
    const lab = await openLab()
    for (const length of [3, 1, 3, 2]) await put(lab, 'text/plain', 'x'.repeat(length))
    const sizes = async (query: string) => {
      const { json } = await lab.send('GET', `/api/files?sort=size${query}`, { as: owner })
      return { sizes: json.data.map(({ size }: { size: number }) => size), next: json.cursorPagination }
    }
    const first = await sizes('&limit=2')
    expect(first.sizes).toEqual([3, 3])
    expect((await sizes(`&limit=2&cursor=${first.next.nextCursor}`)).sizes).toEqual([2, 1])
    expect((await sizes('&sortDir=asc')).sizes).toEqual([1, 2, 3, 3])
  })
})

const step = fc.record({
  what: fc.constantFrom(
    'upload',
    'upload',
    'photo',
    'folder',
    'content',
    'duplicate',
    'restore a version',
    'share',
    'trash',
    'trash',
    'restore',
    'remove',
    'empty',
    'wait',
  ),
  type: fc.constantFrom('video/mp4', 'audio/ogg', 'text/plain', 'application/zip'),
  // Of one tenant the same bytes are stored once.
  bytes: fc.constantFrom('a', 'bb', 'ccc'),
  fileTp: fc.constantFrom('CRDT', 'RTDB'),
  file: fc.nat(20),
  into: fc.nat(20),
})
type Change = typeof step extends fc.Arbitrary<infer Value> ? Value : never

/** Changes what is stored in the way that a step says; ids are of all that was ever made. */
async function change(lab: FilesLab, ids: string[], { what, type, bytes, fileTp, file, into }: Change) {
  const at = (place: number) => ids[place % Math.max(1, ids.length)] ?? 'f1~none'
  const to = (path: string) => `/api/files/${at(file)}${path}`
  const send = (method: string, path: string, json?: object) =>
    lab.send(method, path, { as: owner, ...(json && { json }) })
  const query = into % 2 === 0 ? '' : `?parentId=${at(into)}`
  const sized = async () => {
    const fileId = at(file)
    const { limits } = lab.settings
    const size = bytes.length * 100
    // Only of a document or a database: the bytes of others are counted when they are stored.
    const { json } = await send('GET', to('/metadata'))
    if (['CRDT', 'RTDB'].includes(json.data?.fileTp))
      await lab.db.transact(alice.tenantId, (tx) =>
        countContent(tx, { fileId: fileId as FileId, bytes: size, limits, now: 0 }),
      )
  }
  const grant = { subjectType: 'U', subjectId: bobTag, permission: 'READ' }
  const does: Record<Change['what'], () => Promise<Received | undefined>> = {
    upload: () => lab.upload('x', bytes, { query, preset: 'raw', headers: { 'content-type': type } }),
    photo: async () => lab.upload('photo.jpg', await readFile(photo), { query }),
    folder: () => send('POST', '/api/files', { fileTp: 'FLDR', fileName: 'x' }),
    content: async () => {
      const made = await send('POST', '/api/files', { fileTp, fileName: 'x' })
      await sized()
      return made
    },
    duplicate: () => send('POST', to('/duplicate'), {}),
    'restore a version': () => send('POST', to('/history/3/restore'), {}),
    share: () => send('POST', to('/shares'), grant),
    trash: () => send('DELETE', to('')),
    restore: () => send('POST', to('/restore'), {}),
    remove: () => send('DELETE', to('?permanent=true')),
    empty: () => send('DELETE', '/api/trash'),
    wait: async () => {
      lab.clock.advance(30 * 86_400_000)
      await sweepBlobs(lab.deps)
    },
  }
  const answer = await does[what]()
  expect(answer?.status ?? 200).toBeLessThan(500)
  const fileId = answer?.json.data?.fileId
  if (typeof fileId === 'string' && !ids.includes(fileId)) ids.push(fileId)
}

eachDialect('What is counted of each kind', (open) => {
  const openLab = filesLab(open)

  test('is what a new count of all that is stored comes to, whatever was done', async () => {
    const lab = await openLab()
    const ids: string[] = []
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 15 }), async (steps) => {
        for (const one of steps) {
          await change(lab, ids, one)
          expect(await lab.inconsistencies()).toEqual([])
        }
        await lab.settle()
        await kindsOf(lab)
      }),
      { numRuns: open.runs(4) },
    )
    expect(lab.errors).toEqual([])
  })
})

interface Rows {
  files: object
  file_variants: object
  blobs: object
  storage_usage: object
}

eachDialect('What was stored before kinds were counted', (open) => {
  test('is counted by its kind', async () => {
    const { url } = await open.place()
    const last = filesMigrations.findIndex(({ id }) => id === '0042_storage_kinds')
    const former = await openDatabase({ url, migrations: filesMigrations.slice(0, last) })
    const tenants = [1, 2].map((id) => id as TenantId)
    for (const tenantId of tenants)
      await former.transact(tenantId, (tx) => fillFormer(tx.tables<Rows>(), tenantId))
    await former.close()
    const db = await openDatabase({ url, migrations: filesMigrations })
    for (const tenantId of tenants)
      expect(await findUsageByKind(db.reader(tenantId))).toEqual({
        usedBytes: 1_111_111,
        pictures: 1,
        previews: 10,
        documents: 1_100,
        films: 0,
        sounds: 0,
        databases: 10_000,
        others: 1_100_000,
      })
    await db.close()
  })
})

type FormerTables = {
  insertInto(table: keyof Rows): { values(row: object): { execute(): Promise<unknown> } }
}

async function fillFormer(tables: FormerTables, tenant_id: number): Promise<void> {
  const insert = (table: keyof Rows, row: object) =>
    tables
      .insertInto(table)
      .values({ tenant_id, ...row })
      .execute()
  const common = { status: 'A', owner_tag: 'a.example', preset: 'default', file_name: 'x', tags: '[]' }
  const times = { created_at: 0, modified_at: 0 }
  const add = (file_id: string, row: object) =>
    insert('files', { ...common, ...times, file_tp: 'BLOB', file_id, size: 0, ...row })
  const addBlob = (blob_hash: string, size: number, uses = 1) =>
    insert('blobs', { blob_hash, size, uses, unused_since: uses === 0 ? 0 : null })
  await add('photo', { content_type: 'image/jpeg', blob_hash: 'photo' })
  await addBlob('photo', 1, 2)
  const variant = { file_id: 'photo' as FileId, width: 1, height: 1, size: 1, format: 'jpeg' }
  await insert('file_variants', { ...variant, variant: 'orig', blob_hash: 'photo' })
  await insert('file_variants', { ...variant, variant: 'tn', blob_hash: 'small' })
  await addBlob('small', 10)
  await add('pdf', { content_type: 'application/pdf', blob_hash: 'pdf' })
  await addBlob('pdf', 100)
  await add('doc', { file_tp: 'CRDT', content_type: 'application/x', size: 1_000 })
  await add('copy', { file_tp: 'CRDT', content_type: 'application/x', size: 7, is_copy: 1 })
  await add('db', { file_tp: 'RTDB', content_type: 'application/x', size: 10_000 })
  await add('zip', { content_type: 'application/zip', blob_hash: 'zip' })
  await addBlob('zip', 100_000)
  await addBlob('app', 1_000_000)
  await addBlob('unused', 5, 0)
  await insert('storage_usage', { used_bytes: 1_111_111, files: 6 })
}
