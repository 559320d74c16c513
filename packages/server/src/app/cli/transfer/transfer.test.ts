import { createSecretKey, randomBytes } from 'node:crypto'
import { glob, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  createAction,
  createApiKey,
  type FileId,
  type IdTag,
  installApp,
  type RefId,
  uploadFile,
} from '@kith/protocol'
import { packTar, unpackTar } from 'modern-tar'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { migrations } from '#app/migrations.ts'
import { findAccount, findReference, makeReference, serviceWorkerKey } from '#features/accounts/index.ts'
import { openDelivery } from '#features/federation/index.ts'
import { findFile } from '#features/files/index.ts'
import { type HostedTenant, openTenants, suspendTenant } from '#features/tenants/index.ts'
import {
  exportTenant,
  jsonColumns,
  movedJobs,
  notExportedTables,
  sealedColumns,
  stayingJobs,
} from '#features/transfer/index.ts'
import { appPackage, offerApp } from '#harness/app-package.ts'
import { eachDialect, type OpenTestDatabase } from '#harness/each-dialect.ts'
import { TestServer } from '#harness/test-server.ts'
import { type BlobHash, openDiskBlobs } from '#infra/blobs/index.ts'
import {
  type Database,
  listTenantTables,
  type Migration,
  serverTenant,
  type TenantId,
} from '#infra/db/index.ts'
import { listOpenJobs, openJobs } from '#infra/jobs/index.ts'
import { openSignatures, openSigningKeys, openVault } from '#infra/keys/index.ts'
import { silentLogger } from '#infra/telemetry/index.ts'
import { Failure } from '#lib/failure.ts'
import { purgeTenant } from '../../purge/purge-tenant.ts'
import { importTenant } from './import-tenant.ts'

const aliceTag = 'alice.localhost' as IdTag
const photo = await readFile(new URL('../../../../test/fixtures/images/photo.jpg', import.meta.url))

let source: TestServer
let folder: string
let alice: HostedTenant
let refId: RefId
let fileId: FileId

beforeAll(async () => {
  source = await TestServer.start()
  folder = await mkdtemp(join(tmpdir(), 'kith-transfer-'))
  alice = await source.createTenant(aliceTag, { email: 'alice@example.com' })
  await source.createTenant('bob.localhost')
  await fillWithLife()
  const services = { ...source.running.services, version: '1.0.0' }
  await exportTenant(services, alice, { path: pathOf('with-keys'), withKeys: true })
  await exportTenant(services, alice, { path: pathOf('without-keys'), withKeys: false })
})

afterAll(async () => {
  await source.stop()
  await rm(folder, { recursive: true })
})

async function fillWithLife() {
  const client = await source.as(aliceTag)
  const params = { preset: 'default', fileName: 'photo.jpg' } as const
  const uploaded = await client.upload(uploadFile, {
    params,
    query: { createdAt: new Date('1954-07-04T15:30:00Z') },
    body: new Blob([photo], { type: 'image/jpeg' }),
  })
  fileId = uploaded.data.fileId as FileId
  await source.settle()
  for (const text of ['first', 'second, with ünïcödé and "quotes"\n'])
    await client.call(createAction, { body: { type: 'POST', content: { text }, attachments: [fileId] } })
  await client.call(createAction, { body: { type: 'FLLW', audienceTag: 'bob.localhost' } })
  await client.call(createAction, {
    body: { type: 'POST', content: { text: 'later' }, publishAt: 2_000_000_000 },
  })
  const { actionId } = await offerApp(client)
  await client.call(installApp, { body: { actionId } })
  await client.call(createApiKey, { body: { name: 'for a script' } })
  await source.signIn(aliceTag)
  const { vault, clock } = source.running.services
  const made = await source.db.transact(alice.tenantId, (tx) =>
    makeReference({ vault, clock }, tx, { type: 'invite', createdBy: aliceTag }),
  )
  refId = made.refId
  await source.settle()
}

function pathOf(name: string): string {
  return join(folder, `${name}.tar`)
}

/** The files of an export as text, without what differs from server to server. */
async function contentOf(name: string): Promise<Record<string, string>> {
  const entries = await unpackTar(await readFile(pathOf(name)))
  return Object.fromEntries(
    entries.map(({ header, data }) => [header.name, Buffer.from(data ?? []).toString('latin1')]),
  )
}

async function rewrite(name: string, to: string, change: (files: Map<string, Buffer>) => void) {
  const entries = await unpackTar(await readFile(pathOf(name)))
  const files = new Map(entries.map(({ header, data }) => [header.name, Buffer.from(data ?? [])]))
  change(files)
  const packed = [...files].map(([file, body]) => ({ header: { name: file, size: body.length }, body }))
  await writeFile(pathOf(to), await packTar(packed))
}

let names = 0

/** Another server with another master key, and with a tenant of its own, so that tenant numbers differ. */
async function openTarget(open: OpenTestDatabase, later: readonly Migration[] = []) {
  const { clock } = source
  const db = await open({ migrations: [...migrations, ...later], clock })
  const vault = openVault({ masterKey: createSecretKey(randomBytes(32)) })
  names += 1
  const blobs = await openDiskBlobs({ dir: join(folder, `blobs-${names}`), clock, logger: silentLogger })
  const signatures = openSignatures()
  const signingKeys = openSigningKeys({ db, vault, clock, signatures })
  const jobs = openJobs({ db, clock, logger: silentLogger, nodeId: 'target' })
  const tenants = openTenants({ db, clock })
  const deps = {
    db,
    vault,
    blobs,
    signatures,
    signingKeys,
    jobs,
    deliver: openDelivery({ jobs, clock }),
    tenants,
    clock,
    emit: async () => undefined,
    assertFree: async () => undefined,
    version: '1.0.0',
  }
  const rowsOf = async (tenantId: TenantId) => {
    const counts = []
    for (const { name } of await listTenantTables(db.reader(tenantId))) {
      const rows = await db
        .reader(tenantId)
        .tables<Record<string, { tenant_id: number }>>()
        .selectFrom(name)
        .select('tenant_id')
        .where('tenant_id', '=', tenantId)
        .execute()
      if (rows.length > 0) counts.push(name)
    }
    return counts
  }
  return { ...deps, rowsOf }
}

/** Gives the installed app of an archive another value. */
function withApp(column: 'manifest' | 'entries') {
  return (value: string) => (files: Map<string, Buffer>) => {
    const file = 'rows/installed_apps/000001.jsonl'
    const row = JSON.parse(String(files.get(file)))
    files.set(file, Buffer.from(`${JSON.stringify({ ...row, [column]: value })}\n`))
  }
}

eachDialect('an export', (open) => {
  test('with keys makes an equal tenant elsewhere', async () => {
    const target = await openTarget(open)
    const { tenant, tables, jobs, blobs } = await importTenant(target, pathOf('with-keys'))
    expect(tables.actions?.rows).toBe(5)
    expect(jobs).toBe(0)
    const queued = await listOpenJobs(target.db.reader(tenant.tenantId), { after: 0, limit: 100 })
    expect(queued.map(({ kind, runAtMs }) => [kind, runAtMs])).toEqual([
      ['actions.publish', 2_000_000_000_000],
    ])
    expect(blobs.count).toBeGreaterThan(1)
    expect(await target.tenants.find(aliceTag)).toEqual({
      tenantId: tenant.tenantId,
      idTag: aliceTag,
      type: 'person',
      isBase: false,
      createdAt: alice.createdAt,
    })
    const usageOf = async (db: Database, tenantId: TenantId) => {
      const usage = db.reader(tenantId).tables<Record<string, Record<string, number>>>()
      const rows = usage.selectFrom('storage_usage').selectAll().where('tenant_id', '=', tenantId)
      const { tenant_id: _, ...counts } = await rows.executeTakeFirstOrThrow()
      return counts
    }
    expect(await usageOf(target.db, tenant.tenantId)).toEqual(await usageOf(source.db, alice.tenantId))
    const again = `again-${open.dialect}`
    await exportTenant(target, tenant, { path: pathOf(again), withKeys: true })
    const [before, after] = [await contentOf('with-keys'), await contentOf(again)]
    const audit = 'rows/audit_log/000001.jsonl'
    expect(after[audit]).toContain(before[audit]?.split('\n')[0])
    for (const name of [audit, 'manifest.json']) {
      delete before[name]
      delete after[name]
    }
    expect(after).toEqual(before)
  })

  test('with keys keeps every secret, sealed for the new server', async () => {
    const target = await openTarget(open)
    const { tenant } = await importTenant(target, pathOf('with-keys'))
    const reader = target.db.reader(tenant.tenantId)
    expect((await findReference(reader, refId))?.type).toBe('invite')
    const { db, vault, signingKeys } = source.running.services
    const oldAccount = await findAccount(db.reader(alice.tenantId))
    const newAccount = await findAccount(reader)
    if (!oldAccount || !newAccount) throw new Error('an account is missing')
    expect(serviceWorkerKey(target.vault, tenant.tenantId, newAccount)).toBe(
      serviceWorkerKey(vault, alice.tenantId, oldAccount),
    )
    expect(newAccount.passwordHash).toBe(oldAccount.passwordHash)
    expect(await target.signingKeys.list(tenant.tenantId)).toEqual(await signingKeys.list(alice.tenantId))
    await target.signingKeys.sign(tenant.tenantId, {})
  })

  test('without keys holds no secret, and the tenant gets a new key', async () => {
    const text = Object.values(await contentOf('without-keys')).join('')
    expect(text).not.toContain(refId)
    const { db, vault, signingKeys } = source.running.services
    const account = await findAccount(db.reader(alice.tenantId))
    if (!account) throw new Error('the account is missing')
    const secret = Buffer.from(serviceWorkerKey(vault, alice.tenantId, account), 'base64url')
    expect(text).not.toContain(secret.toString('base64'))
    const target = await openTarget(open)
    const { tenant } = await importTenant(target, pathOf('without-keys'))
    const [old] = await signingKeys.list(alice.tenantId)
    const [current, retired] = await target.signingKeys.list(tenant.tenantId)
    expect(current?.kid).not.toBe(old?.kid)
    expect(retired).toMatchObject({ kid: old?.kid, publicKey: old?.publicKey })
    expect(retired?.expiresAt).toBeDefined()
    await target.signingKeys.sign(tenant.tenantId, {})
    const newAccount = await findAccount(target.db.reader(tenant.tenantId))
    if (!newAccount) throw new Error('the account is missing')
    expect(serviceWorkerKey(target.vault, tenant.tenantId, newAccount)).toHaveLength(43)
    expect(await findReference(target.db.reader(tenant.tenantId), refId)).toBeUndefined()
  })

  test('brings API keys along and no session', async () => {
    const content = await contentOf('with-keys')
    const sessions = content['rows/sessions/000001.jsonl']
      ?.trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(sessions).toMatchObject([{ method: 'apikey', label: 'for a script' }])
  })

  test('says of no file with which credential it was made', async () => {
    const content = await contentOf('with-keys')
    expect(content['rows/files/000001.jsonl']).toContain(fileId)
    expect(content['rows/files/000001.jsonl']).not.toContain('made_with')
  })

  test('has apps with their packages, and no number of their publishers', async () => {
    const content = await contentOf('with-keys')
    const rows = content['rows/installed_apps/000001.jsonl'] ?? ''
    expect(rows).not.toContain('publisher_id')
    const target = await openTarget(open)
    const { tenant } = await importTenant(target, pathOf('with-keys'))
    const { blob_hash } = JSON.parse(rows) as { blob_hash: BlobHash }
    expect(await target.blobs.size(tenant.tenantId, blob_hash)).toBe(appPackage().length)
    expect(await target.rowsOf(tenant.tenantId)).toContain('app_offers')
  })

  test('is refused where the identity lives already', async () => {
    const target = await openTarget(open)
    await importTenant(target, pathOf('with-keys'))
    await expect(importTenant(target, pathOf('with-keys'))).rejects.toMatchObject({
      code: 'E-PROFILE-EXISTS',
    })
  })

  test('is refused where it could not be served', async () => {
    const target = await openTarget(open)
    const refuse = async () => {
      throw new Failure('E-STATE')
    }
    await expect(importTenant({ ...target, assertFree: refuse }, pathOf('with-keys'))).rejects.toMatchObject({
      code: 'E-STATE',
    })
    expect(await target.tenants.find(aliceTag)).toBeUndefined()
  })

  test('leaves nothing behind when it is damaged or cut off', async () => {
    const target = await openTarget(open)
    const name = `damaged-${open.dialect}`
    const damages: ((files: Map<string, Buffer>) => void)[] = [
      (files) => files.delete('manifest.json'),
      (files) => files.delete('rows/profiles/000001.jsonl'),
      (files) => files.set('rows/profiles/000001.jsonl', Buffer.from('{"id_tag":')),
      (files) => files.set('rows/no_such_table/000001.jsonl', Buffer.from('{}\n')),
      (files) => files.set('rows/tenants/000001.jsonl', Buffer.from('{}\n')),
      (files) => files.set('rows/profiles/000002.jsonl', Buffer.from('{"tenant_id":1}\n')),
      (files) => {
        const blob = [...files.keys()].find((file) => file.startsWith('blobs/')) ?? ''
        files.set(blob, Buffer.from('other bytes'))
      },
      (files) => files.set('blobs/../../evil', Buffer.from('x')),
      ...['{}', '{"id":"a","name":"a/b","version":"1.0.0","entry":"a.html"}'].map(withApp('manifest')),
      ...['5', '[null]', '[["a",-1,0,0,0,0]]', '[["a","1",0,0,0,0]]'].map(withApp('entries')),
      (files) => files.set('jobs/000001.jsonl', Buffer.from('null\n')),
    ]
    for (const damage of damages) {
      await rewrite('with-keys', name, (files) => {
        const manifest = files.get('manifest.json')
        files.delete('manifest.json')
        if (manifest) files.set('manifest.json', manifest)
        damage(files)
        const last = files.get('manifest.json')
        files.delete('manifest.json')
        if (last) files.set('manifest.json', last)
      })
      await expect(importTenant(target, pathOf(name)), String(damage)).rejects.toMatchObject({
        code: 'E-VALIDATION',
      })
      expect(await target.tenants.find(aliceTag)).toBeUndefined()
    }
    for (const tenantId of [1, 2, 8]) {
      expect(await target.rowsOf(tenantId as TenantId)).toEqual([])
      expect(await Array.fromAsync(target.blobs.list(tenantId as TenantId))).toEqual([])
    }
  })

  test('takes rows of many bytes along, a few in each part', async () => {
    const pieces: Migration = {
      id: '9999_pieces',
      up: (schema) =>
        schema.createTable(
          'pieces',
          { tenant_id: 'integer', piece: 'integer', bytes: 'blob' },
          { primaryKey: ['tenant_id', 'piece'] },
        ),
    }
    const from = await openTarget(open, [pieces])
    const name = `pieces-${open.dialect}`
    const before = `before-${name}`
    await rewrite('with-keys', before, (files) => {
      const about = JSON.parse(files.get('about.json')?.toString() ?? '')
      const changed = { ...about, migrations: [...about.migrations, pieces.id] }
      files.set('about.json', Buffer.from(JSON.stringify(changed)))
    })
    const { tenant } = await importTenant(from, pathOf(before))
    type Pieces = { pieces: { tenant_id: number; piece: number; bytes: Uint8Array } }
    const bytesOf = (piece: number) => Buffer.from(Array.from({ length: 256 }, (_, at) => (at + piece) % 256))
    const rows = Array.from({ length: 20 }, (_, piece) => ({ piece, bytes: bytesOf(piece) }))
    await from.db.transact(tenant.tenantId, async (tx) => {
      const values = rows.map((row) => ({ ...row, tenant_id: tx.tenantId }))
      await tx.tables<Pieces>().insertInto('pieces').values(values).execute()
    })
    await exportTenant(from, tenant, { path: pathOf(name), withKeys: true })
    const parts = Object.entries(await contentOf(name)).filter(([file]) => file.startsWith('rows/pieces/'))
    expect(parts.map(([, text]) => text.trimEnd().split('\n').length)).toEqual([8, 8, 4])
    const to = await openTarget(open, [pieces])
    const moved = await importTenant(to, pathOf(name))
    const found = await to.db
      .reader(moved.tenant.tenantId)
      .tables<Pieces>()
      .selectFrom('pieces')
      .select(['piece', 'bytes'])
      .where('tenant_id', '=', moved.tenant.tenantId)
      .orderBy('piece')
      .execute()
    expect(found.map(({ piece, bytes }) => ({ piece, bytes: Buffer.from(bytes) }))).toEqual(rows)
  })

  test('of another version of the database is refused', async () => {
    const target = await openTarget(open)
    const name = `newer-${open.dialect}`
    await rewrite('with-keys', name, (files) => {
      const about = JSON.parse(files.get('about.json')?.toString() ?? '')
      const changed = { ...about, migrations: [...about.migrations, '9999_later'] }
      files.set('about.json', Buffer.from(JSON.stringify(changed)))
    })
    await expect(importTenant(target, pathOf(name))).rejects.toMatchObject({ code: 'E-VALIDATION' })
  })

  test('can be purged again, and nothing of it stays', async () => {
    const target = await openTarget(open)
    const { tenant } = await importTenant(target, pathOf('with-keys'))
    expect(await findFile(target.db.reader(tenant.tenantId), fileId)).toBeDefined()
    const revokeSessions = async () => undefined
    await target.db.transact(tenant.tenantId, (tx) => suspendTenant({ ...target, revokeSessions }, tx))
    const suspended = await openTenants(target).find(tenant.idTag)
    const suspendedAt = suspended?.suspendedAt ?? 0
    const removed = await purgeTenant(
      { ...target, pause: async () => undefined, by: 'command line' },
      { ...tenant, suspendedAt },
    )
    expect(removed.rows).toBeGreaterThan(10)
    expect(await target.rowsOf(tenant.tenantId)).toEqual([])
    expect(await Array.fromAsync(target.blobs.list(tenant.tenantId))).toEqual([])
    expect(await target.tenants.find(aliceTag)).toBeUndefined()
  })
})

describe('the tables that stay or hold secrets', () => {
  test('exist', async () => {
    const tables = (await listTenantTables(source.db.reader(serverTenant))).map(({ name }) => name)
    // A virtual table on SQLite.
    const named = notExportedTables.filter((name) => name !== 'action_texts')
    expect(tables).toEqual(expect.arrayContaining(named))
  })

  test('are all declared: a sealed column that is not would be worth nothing elsewhere', async () => {
    const tables = await listTenantTables(source.db.reader(serverTenant))
    const sealed = tables
      .filter(({ name }) => !notExportedTables.includes(name))
      .flatMap(({ name, columns }) =>
        columns.filter((column) => column.name.includes('seal')).map((column) => `${name}.${column.name}`),
      )
    expect(sealed.sort()).toEqual(sealedColumns.map(({ table, column }) => `${table}.${column}`).sort())
  })
})

test('every column of JSON is known, or read by the room that has it', async () => {
  const root = join(import.meta.dirname, '../../../features')
  const found: string[] = []
  for await (const file of glob('**/*migrations.ts', { cwd: root })) {
    const text = await readFile(join(root, file), 'utf8')
    found.push(...[...text.matchAll(/(\w+): '(?:json|json null)'/g)].map(([, column = '']) => column))
  }
  const known = [...new Set(Object.values(jsonColumns).flatMap((columns) => Object.keys(columns)))]
  // Of tables that are read member by member, that stay, or that are made anew.
  const others = [
    'audience',
    'content',
    'attachments',
    'x',
    'capabilities',
    'notice',
    'document',
    'named',
    'left_out',
    'changes',
    'answer',
  ]
  expect([...new Set(found)].sort()).toEqual([...new Set([...known, ...others])].sort())
})

test('of every kind of job it is said whether it moves', async () => {
  const root = join(import.meta.dirname, '../../../features')
  const sources = await Array.fromAsync(glob('**/*.ts', { cwd: root }), (file) =>
    readFile(join(root, file), 'utf8'),
  )
  const kinds = sources.flatMap((text) =>
    [...text.matchAll(/jobKind\(\{\s+name: '([^']+)'/g)].map(([, kind]) => kind),
  )
  expect([...movedJobs, ...stayingJobs].sort()).toEqual(kinds.sort())
})
