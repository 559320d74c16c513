import { join } from 'node:path'
import { type IdTag, purgeTenant, resumeTenant, updateAdminProfile, uploadFile } from '@kith/protocol'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { findRelation, removeRelation } from '#features/relations/index.ts'
import { CommandLine } from '#harness/command-line.ts'
import { type LineBesideServer, openLineBesideServer } from '#harness/line-beside-server.ts'
import { TestServer } from '#harness/test-server.ts'
import type { BlobStore } from '#infra/blobs/index.ts'
import { type Database, listTenantTables, serverTenant, type TenantId } from '#infra/db/index.ts'
import { importDeps } from './import.ts'
import { importTenant } from './import-tenant.ts'

const baseTag = 'home.localhost'
const aliceTag = 'alice.localhost' as IdTag
const bobTag = 'bob.localhost'
const imported = { exitCode: 1, code: 'E-STATE', message: 'This tenant is being imported.' }

let old: CommandLine
let file: string
let beside: LineBesideServer
let line: CommandLine
let server: TestServer

beforeAll(async () => {
  old = await CommandLine.open()
  file = join(old.folder, 'alice.tar')
  {
    await using former = await TestServer.start({ dataDir: old.dataDir })
    await former.createTenant(aliceTag)
    const client = await former.as(aliceTag)
    const params = { preset: 'raw', fileName: 'note.txt' } as const
    await client.upload(uploadFile, { params, body: new Blob(['bytes'], { type: 'text/plain' }) })
    await former.settle()
  }
  await old.json('export', aliceTag, '--to', file)
  beside = await openLineBesideServer()
  ;({ line, server } = beside)
  await server.createTenant(bobTag)
})
afterAll(async () => {
  await beside?.[Symbol.asyncDispose]()
  await old?.[Symbol.asyncDispose]()
})

beforeEach(async () => {
  await forgetDecision()
  await server.relate(bobTag, aliceTag, { isFollowing: true })
})

const tenantNow = () => {
  server.running.features.identity.tenants.forget()
  return server.running.features.identity.tenants.find(aliceTag)
}

/** What administrators have decided about the name. */
async function forgetDecision(): Promise<void> {
  await server.db.transact(serverTenant, (tx) => removeRelation(tx, aliceTag))
}

async function ban(banExpiresAt?: number): Promise<void> {
  const body = { status: 'Banned' as const, ...(banExpiresAt === undefined ? {} : { banExpiresAt }) }
  await (await server.as(baseTag)).call(updateAdminProfile, { params: { idTag: aliceTag }, body })
}

/** Imports, and does something when all rows are there and the first of the bytes come. */
function importWhile(meanwhile: () => Promise<unknown>, db: Database = server.db) {
  const { services, features } = server.running
  const deps = importDeps(services, features.identity)
  const blobs: BlobStore = Object.assign(Object.create(deps.blobs) as BlobStore, {
    stage: async (...call: Parameters<BlobStore['stage']>) => {
      await meanwhile()
      return deps.blobs.stage(...call)
    },
    removeTenant: (tenantId: TenantId) => deps.blobs.removeTenant(tenantId),
  })
  return importTenant({ ...deps, db, blobs }, file)
}

/** Leaves what an import leaves that dies with its process: it changes nothing any more. */
async function importUntilKilled(): Promise<TenantId> {
  const { db } = server
  let isDead = false
  const dying = Object.assign(Object.create(db) as Database, {
    reader: db.reader.bind(db),
    transact: (...call: Parameters<Database['transact']>) =>
      isDead ? Promise.reject(new Error('killed')) : db.transact(...call),
  })
  const die = async () => {
    isDead = true
    throw new Error('killed')
  }
  await expect(importWhile(die, dying)).rejects.toThrow('killed')
  const left = await tenantNow()
  if (!left) throw new Error('nothing was left')
  return left.tenantId
}

async function removeAlice(): Promise<void> {
  await line.json('tenant', 'suspend', aliceTag)
  await line.json('tenant', 'purge', aliceTag, '--yes')
}

async function tablesOf(tenantId: TenantId): Promise<string[]> {
  const reader = server.db.reader(serverTenant)
  const found: string[] = []
  for (const { name } of await listTenantTables(reader)) {
    const rows = reader.tables<Record<string, { tenant_id: number }>>().selectFrom(name).select('tenant_id')
    if (await rows.where('tenant_id', '=', tenantId).executeTakeFirst()) found.push(name)
  }
  return found
}

const isFollowed = async () => {
  const bob = await server.running.features.identity.tenants.find(bobTag as IdTag)
  return (await findRelation(server.db.reader(bob?.tenantId ?? serverTenant), aliceTag))?.isFollowing
}

describe('a tenant that is being imported', () => {
  test('is resumed by nobody until everything is there', async () => {
    const { tenant } = await importWhile(async () => {
      expect(await line.fails('tenant', 'resume', aliceTag)).toEqual(imported)
      const admin = await server.as(baseTag)
      const params = { idTag: aliceTag }
      await expect(admin.call(resumeTenant, { params })).rejects.toMatchObject({
        status: 409,
        code: 'E-STATE',
      })
      for (const body of [
        { status: 'Active' },
        { status: 'Blocked' },
        { name: 'Other' },
        { roles: ['SADM'] },
      ])
        await expect(admin.call(updateAdminProfile, { params, body: body as object })).rejects.toMatchObject({
          code: 'E-STATE',
        })
      await expect(admin.call(purgeTenant, { params })).rejects.toMatchObject({ code: 'E-STATE' })
      expect((await line.json('tenant', 'list', aliceTag)).tenants).toMatchObject([
        { status: 'suspended', underWay: 'import' },
      ])
      expect((await line.run(['tenant', 'list', aliceTag])).out).toContain(' importing ')
      expect(await tenantNow()).toMatchObject({ suspendedAt: expect.any(Number), underWay: 'import' })
    })
    for (const found of [tenant, await tenantNow()]) {
      expect(found?.suspendedAt).toBeUndefined()
      expect(found?.underWay).toBeUndefined()
    }
    await removeAlice()
  })

  test('stays suspended when that was decided meanwhile, and is resumed as others are', async () => {
    const { tenant } = await importWhile(() => line.json('tenant', 'suspend', aliceTag))
    expect(tenant.suspendedAt).toBeDefined()
    expect(await tenantNow()).toMatchObject({ suspendedAt: tenant.suspendedAt })
    await line.json('tenant', 'resume', aliceTag)
    expect((await tenantNow())?.suspendedAt).toBeUndefined()
    await removeAlice()
  })

  test('stays out while it is banned, and not by a ban that has ended before', async () => {
    const soon = () => Math.floor(server.clock.now() / 1000) + 60
    await importWhile(() => ban())
    expect((await tenantNow())?.suspendedAt).toBeDefined()
    await removeAlice()
    await forgetDecision()
    await importWhile(async () => {
      await ban(soon())
      server.clock.advance(60_000)
      await server.settle()
      expect(await tenantNow()).toMatchObject({ underWay: 'import' })
    })
    expect((await tenantNow())?.suspendedAt).toBeUndefined()
    await removeAlice()
  })

  test('gets no further row once a command has taken it back', async () => {
    let tenantId = serverTenant
    const importing = importWhile(async () => {
      tenantId = (await tenantNow())?.tenantId ?? serverTenant
      expect((await line.run(['tenant', 'purge', aliceTag, '--yes'])).out).toMatch(
        /^What an import has brought of alice\.localhost is gone: \d+ rows and /,
      )
    })
    await expect(importing).rejects.toMatchObject({ code: 'E-STATE' })
    expect(await tablesOf(tenantId)).toEqual([])
    expect(await tenantNow()).toBeUndefined()
    expect(await isFollowed()).toBe(true)
  })
})

describe('an import that was killed', () => {
  test('leaves a tenant that nothing resumes, and the next import begins anew', async () => {
    const left = await importUntilKilled()
    expect(await line.fails('tenant', 'resume', aliceTag)).toEqual(imported)
    expect(await tablesOf(left)).toContain('files')
    expect((await line.json('import', file)).tenant).toMatchObject({ idTag: aliceTag, status: 'active' })
    expect(await tablesOf(left)).toEqual([])
    expect(await isFollowed()).toBe(true)
    expect((await tenantNow())?.tenantId).not.toBe(left)
    expect(await line.fails('import', file)).toMatchObject({ code: 'E-PROFILE-EXISTS' })
    await removeAlice()
  })

  test('is cleaned up by a purge, which takes nothing that others gave to the name', async () => {
    const left = await importUntilKilled()
    expect(await line.json('tenant', 'purge', aliceTag, '--yes')).toMatchObject({ idTag: aliceTag })
    expect(await tablesOf(left)).toEqual([])
    expect(await tenantNow()).toBeUndefined()
    expect(await isFollowed()).toBe(true)
    expect((await line.json('import', file)).tenant).toMatchObject({ status: 'active' })
    await removeAlice()
  })
})
