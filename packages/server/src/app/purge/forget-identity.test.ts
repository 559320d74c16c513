import type { ActionId } from '@kith/protocol'
import {
  addToCollection,
  createAction,
  createReference,
  createShare,
  getAccessToken,
  getProfile,
  getProxyToken,
  type IdTag,
  listFiles,
  listReferences,
  subscribePush,
  updateAdminProfile,
  uploadFile,
} from '@kith/protocol'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeReference } from '#features/accounts/index.ts'
import { deliverJob } from '#features/federation/index.ts'
import { PushService } from '#harness/push-service.ts'
import { TestServer } from '#harness/test-server.ts'
import { type Database, listTenantTables, serverTenant } from '#infra/db/index.ts'
import { namingColumns } from './forget-identity.ts'
import { purgeTenant } from './purge-tenant.ts'

const club = 'club.localhost'
const bob = 'bob.localhost'
const leaver = 'leaver.localhost' as IdTag

let server: TestServer
beforeAll(async () => {
  server = await TestServer.start()
})
afterAll(() => server.stop())

async function visit(by: string, host: string) {
  const { data: proxy } = await (await server.as(by)).call(getProxyToken, {
    query: { target: host as IdTag },
  })
  const { data } = await server.client(host).call(getAccessToken, { query: { token: proxy.token } })
  return server.client(host, data.token)
}

const note = { params: { preset: 'raw', fileName: 'note.txt' }, body: new Blob(['hello']) } as const

/** A member of a community who has left something everywhere. */
async function settleIn() {
  await server.createTenant(club, { type: 'community' })
  await server.createTenant(bob)
  const tenant = await server.createTenant(leaver)
  await server.relate(club, bob, { role: 'leader', connection: 'connected' })
  await server.relate(club, leaver, { role: 'leader', connection: 'connected' })
  await server.relate(bob, leaver, { connection: 'connected', isFollowing: true })
  const member = await visit(leaver, club)
  const { data: file } = await member.upload(uploadFile, note)
  const body = { type: 'share.file', resourceId: file.fileId } as const
  await member.call(createReference, { body })
  await member.call(addToCollection, { params: { collType: 'BKMK', itemId: file.fileId } })
  await member.call(createAction, { body: { type: 'POST', content: { text: 'Hello all' } } })
  await using pushService = await PushService.start()
  const { subscription } = pushService.browser()
  await member.call(subscribePush, { body: { subscription } })
  const ofBob = await server.as(bob)
  const { data: his } = await ofBob.upload(uploadFile, note)
  await ofBob.call(createShare, {
    params: { fileId: his.fileId },
    body: { subjectType: 'U', subjectId: leaver, permission: 'W' },
  })
  await (await server.as(server.baseIdTag)).call(updateAdminProfile, {
    params: { idTag: leaver },
    body: { roles: ['user', 'SADM'] },
  })
  await server.db.transact(serverTenant, (tx) =>
    makeReference(server.running.services, tx.as(1 as never), {
      type: 'invite',
      resourceId: `community:${leaver}`,
    }),
  )
  return { tenant, member, file }
}

/** Where the name stands in what others hold, beside what has happened. */
async function whereNamed(): Promise<string[]> {
  const reader = server.db.reader(serverTenant)
  const found: string[] = []
  for (const { table, column, only = {}, form } of namingColumns) {
    const rows = await reader
      .tables<Record<string, Record<string, string | number>>>()
      .selectFrom(table)
      .selectAll()
      // That it is suspended is the server's own.
      .where('tenant_id', '!=', serverTenant)
      .where(column, '=', form ? form(leaver) : leaver)
      .execute()
    const counted = rows.filter((row) => Object.entries(only).every(([name, value]) => row[name] === value))
    if (counted.length > 0) found.push(`${table}.${column}`)
  }
  return found
}

test('whoever gets the name of somebody who was purged is a stranger to everybody', async () => {
  const { tenant, member, file } = await settleIn()
  await server.suspend(leaver)
  const suspendedAt = Math.floor(server.clock.now() / 1000)
  server.clock.advance(6_000)
  // Rows of the tenant itself go in any case.
  expect((await whereNamed()).sort()).toEqual(
    [
      'actions.author_tag',
      'collection_items.id_tag',
      'files.owner_tag',
      'push_subscriptions.subscriber_tag',
      'refs.created_by',
      'refs.resource_id',
      'relations.id_tag',
      'server_admins.id_tag',
      'sessions.caller_tag',
      'shares.subject_id',
    ].sort(),
  )
  const { services, features } = server.running
  const deps = {
    ...services,
    ...features.identity,
    pause: async () => undefined,
    by: 'command line',
  } as const
  const broken = {
    ...deps,
    blobs: {
      async removeTenant() {
        throw new Error('killed')
      },
    },
  }
  await expect(purgeTenant(broken, { ...tenant, suspendedAt })).rejects.toThrow('killed')
  expect(await whereNamed()).toEqual([])
  await purgeTenant(deps, { ...tenant, suspendedAt })
  expect(await whereNamed()).toEqual([])

  await server.createTenant(leaver)
  server.clock.advance(6_000)
  await expect(member.call(listFiles, {})).rejects.toMatchObject({ status: 401 })
  const newcomer = await visit(leaver, club)
  const { data: profile } = await (await visit(bob, club)).call(getProfile, { params: { idTag: leaver } })
  expect(profile.role ?? 'public').toBe('public')
  expect((await newcomer.call(listFiles, {})).data).toEqual([])
  expect((await newcomer.call(listReferences, { query: { filter: 'all' } })).data).toEqual([])
  const kept = await (await visit(bob, club)).call(listFiles, {})
  expect(kept.data).toMatchObject([{ fileId: file.fileId }])
})

test('a purge leaves no delivery that a fan-out under way has added', async () => {
  const idTag = 'handing-out.localhost'
  const tenant = await server.createTenant(idTag)
  await server.suspend(idTag)
  const suspendedAt = Math.floor(server.clock.now() / 1000)
  server.clock.advance(6_000)
  const { services, features } = server.running
  const { db, jobs, clock } = services
  const rows = db.reader(tenant.tenantId).tables<{ jobs: { tenant_id: number; kind: string } }>()
  const countJobs = async () =>
    (await rows.selectFrom('jobs').select('kind').where('tenant_id', '=', tenant.tenantId).execute()).length
  let added = 0
  const busy = Object.assign(Object.create(db) as Database, {
    reader: db.reader.bind(db),
    transact: async (...call: Parameters<Database['transact']>) => {
      const result = await db.transact(...call)
      // The first that is of the tenant takes its jobs away.
      if (call[0] === tenant.tenantId && added === 0) {
        added += 1
        const payload = {
          actionId: 'a1~1' as ActionId,
          inboxUrl: 'https://far.example/inbox',
          recipients: [],
        }
        const options = { groupKey: 'far.example', runAtMs: clock.now() + 3_600_000 }
        await db.transact(tenant.tenantId, (tx) => jobs.enqueue(tx, deliverJob, payload, options))
        expect(await countJobs()).toBe(1)
      }
      return result
    },
  })
  const pause = async () => undefined
  const deps = { ...services, ...features.identity, db: busy, pause, by: 'command line' } as const
  await purgeTenant(deps, { ...tenant, suspendedAt })
  expect([added, await countJobs()]).toEqual([1, 0])
})

test('every column that can name somebody is decided about', async () => {
  const history = [
    ...['issuer_tag', 'audience_tag', 'subject'].map((column) => `actions.${column}`),
    'action_attachments.issuer_tag',
    'action_recipients.id_tag',
    'action_views.reader',
    'audit_log.actor_tag',
    'conversation_messages.issuer_tag',
    'conversations.other_tag',
    'conversations.starter_tag',
    'domain_blocks.created_by',
    'shares.created_by',
    'action_reads.reader_tag',
    'comment_reads.reader_tag',
    'idempotency_keys.caller_tag',
    'storage_reservations.creator_tag',
    'tombstones.issuer_tag',
    'visitor_logouts.caller_tag',
    'fan_outs.issuer_tag',
    'fan_outs.after_tag',
    'files.discarded_by',
    // The number of the publisher beside it decides.
    'installed_apps.publisher_tag',
  ]
  const ownOrServers = [
    'app_offers.publisher_tag',
    'profiles.id_tag',
    'identities.id_tag',
    'tenants.id_tag',
    'managed_identities.id_tag',
    'released_identities.id_tag',
    'identity_keys.id_tag',
  ]
  const decided = [
    ...namingColumns.map(({ table, column }) => `${table}.${column}`),
    ...history,
    ...ownOrServers,
  ]
  const tables = await listTenantTables(server.db.reader(serverTenant))
  const naming = tables.flatMap(({ name, columns }) =>
    columns.filter(({ name: column }) => /_tag$|_by$/.test(column)).map((column) => `${name}.${column.name}`),
  )
  expect(naming.filter((column) => !decided.includes(column))).toEqual([])
})
