import { generateKeyPairSync } from 'node:crypto'
import {
  type ActionId,
  createAction,
  type FileId,
  getAction,
  getSetting,
  type IdTag,
  listActions,
  uploadFile,
} from '@kith/protocol'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { importDeps } from '#app/cli/transfer/import.ts'
import { importTenant } from '#app/cli/transfer/import-tenant.ts'
import { findRelation } from '#features/relations/index.ts'
import { stayingJobs } from '#features/transfer/index.ts'
import { Dice } from '#harness/dice.ts'
import { ImportSite } from '#harness/import-site.ts'
import { runsOf } from '#harness/property-runs.ts'
import { type ArchiveRow, forgedRow, type TenantArchive } from '#harness/tenant-archive.ts'
import { type Person, TestNetwork } from '#harness/test-network.ts'
import { testSeed } from '#harness/test-seed.ts'
import { listTenantTables, serverTenant } from '#infra/db/index.ts'
import { connect, feedOf, follow, post } from './acts.ts'

const hourMs = 3_600_000

describe('an archive that is imported', () => {
  let network: TestNetwork
  let site: ImportSite
  let alice: Person
  let bob: Person
  let dora: Person
  /** Of dora, to alice alone. */
  let letterId: ActionId
  /** Of dora, which alice has reposted. */
  let postId: ActionId
  /** Of dora, on a post of alice. */
  let commentId: ActionId
  let ownId: ActionId
  let fileId: FileId

  beforeAll(async () => {
    network = await TestNetwork.start(3)
    alice = await network.person(0, 'alice')
    site = await ImportSite.open(network, alice.idTag)
    bob = await network.person(1, 'bob')
    dora = await network.person(2, 'dora')
    await connect(network, alice, dora)
    await follow(network, alice, dora)
    const say = async (person: Person, body: object) => {
      const { data } = await person.client.call(createAction, { body: body as never })
      await network.settle()
      return data.actionId as ActionId
    }
    const params = { preset: 'default', fileName: 'notes.txt' } as const
    const body = new Blob(['notes'], { type: 'text/plain' })
    fileId = (await alice.client.upload(uploadFile, { params, body })).data.fileId as FileId
    const text = (words: string) => ({ content: { text: words }, visibility: 'P' })
    ownId = await say(alice, { type: 'POST', ...text('mine'), attachments: [fileId] })
    postId = await say(dora, { type: 'POST', ...text('hers') })
    await say(alice, { type: 'REPOST', subject: postId, visibility: 'P' })
    commentId = await say(dora, { type: 'CMNT', parentId: ownId, content: { text: 'a comment' } })
    letterId = await say(dora, { type: 'MSG', audienceTag: alice.idTag, content: { text: 'a secret' } })
    await network.server(0).suspend(alice.idTag)
    await site.export()
    network.announce(1, alice.idTag)
  })

  afterAll(async () => {
    await network[Symbol.asyncDispose]()
    await site[Symbol.asyncDispose]()
  })

  const changed = (change?: (archive: TenantArchive) => void) => site.changed(change)
  const importing: ImportSite['importing'] = (path, work) => site.importing(path, work)

  /** What somebody is shown of an action at alice's new home. */
  async function shown(actionId: ActionId, as?: Person): Promise<unknown> {
    const client = as ? await clientOf(as) : site.target.client(alice.idTag)
    const answer = await client.call(getAction, { params: { actionId } }).catch((error) => error)
    return 'data' in answer ? answer.data : answer.code
  }

  async function clientOf(person: Person) {
    if (person === alice) return await site.target.as(alice.idTag)
    throw new Error('only alice signs in')
  }

  /** The relation that alice has at her new home. */
  async function relationWith({ idTag }: Person): Promise<string | undefined> {
    const tenant = await site.target.running.features.identity.tenants.find(alice.idTag)
    if (!tenant) throw new Error('alice is missing')
    return (await findRelation(site.target.db.reader(tenant.tenantId), idTag))?.connection
  }

  test('by an honest hand: what others said is its tenant’s alone until it is verified', async () => {
    await network.takeDown(2)
    await importing(await changed(), async ({ leftOut }) => {
      expect(leftOut).toEqual({ actions: 0, settings: 0 })
      await network.settle()
      for (const actionId of [postId, commentId, letterId]) {
        expect(await shown(actionId, alice)).toMatchObject({ actionId, unverified: true })
        expect(await shown(actionId)).toBe('E-ACTION-NOTFOUND')
      }
      expect(await shown(ownId)).toMatchObject({ content: { text: 'mine' } })
      expect(await relationWith(dora)).toBe('requested')
      await network.bringBack(2)
      await network.pass(3 * hourMs, hourMs)
      for (const actionId of [postId, commentId]) {
        expect(await shown(actionId)).toMatchObject({ actionId })
        expect(await shown(actionId, alice)).not.toHaveProperty('unverified')
      }
      expect(await shown(letterId, alice)).toMatchObject({ content: { text: 'a secret' } })
      expect(await shown(letterId)).toBe('E-ACTION-NOTFOUND')
      // By then dora's server has looked for alice again, who has asked for the connection anew.
      await network.pass(25 * hourMs, hourMs)
      expect(await relationWith(dora)).toBe('connected')
      await post(network, dora, 'for friends', { visibility: 'C' })
      expect(await feedOf({ ...alice, client: await site.target.as(alice.idTag) })).toContain('for friends')
    })
  })

  test.each([
    ['at another server', () => dora],
    ['at the server that imports it', () => bob],
  ])('speaks for nobody else: for one %s', async (_, whom) => {
    const { idTag: issuerTag } = whom()
    const text = 'never said'
    let forgedId = '' as ActionId
    const path = await changed((archive) => {
      const row = forgedRow(archive, postId, { issuerTag, content: { text } })
      forgedId = row.action_id as ActionId
      archive.rows('actions').push(row)
      const { token = '' } = forgedRow(archive, letterId, { issuerTag, content: { text } })
      archive.jobs.push({ kind: 'inbox.hold', payload: JSON.stringify({ token }), runAtMs: 0 })
    })
    await importing(path, async () => {
      await network.pass(3 * hourMs, hourMs)
      expect(await shown(forgedId)).toBe('E-ACTION-NOTFOUND')
      expect(await shown(forgedId, alice)).toMatchObject({ content: { text }, unverified: true })
      const { data } = await (await site.target.as(alice.idTag)).call(listActions, {
        query: { type: ['MSG'] },
      })
      expect(data.map(({ content }) => content?.text)).toEqual(['a secret'])
    })
  })

  test('shows what was signed, whatever else its rows say', async () => {
    const path = await changed((archive) => {
      const say = (actionId: ActionId, row: ArchiveRow) =>
        Object.assign(archive.row('actions', { action_id: actionId }), row)
      say(ownId, { content: '{"text":"other words"}', visibility: null, created_at: 1 })
      say(postId, { content: '{"text":"other words"}', subject: 'something' })
      say(letterId, { visibility: 'P', audience_tag: null, feed_only: 0, type: 'POST' })
      say(commentId, { within_id: postId, root_id: postId, visibility: 'P' })
    })
    await importing(path, async () => {
      await network.pass(hourMs, hourMs)
      expect(await shown(ownId)).toMatchObject({ content: { text: 'mine' }, visibility: 'P' })
      expect(await shown(postId)).toMatchObject({ content: { text: 'hers' } })
      expect(await shown(postId)).not.toHaveProperty('subject')
      expect(await shown(letterId)).toBe('E-ACTION-NOTFOUND')
      expect(await shown(letterId, alice)).toMatchObject({ type: 'MSG', audienceTag: alice.idTag })
      expect(await shown(commentId)).toMatchObject({ rootId: ownId, parentId: ownId })
    })
  })

  test('connects nobody who has not said so', async () => {
    const path = await changed((archive) => {
      const row = archive.row('relations', { id_tag: dora.idTag })
      const like = (id_tag: string, connection: string) => ({ ...row, id_tag, connection })
      archive.rows('relations').push(like(bob.idTag, 'connected'), like('carol.localhost', 'asked'))
    })
    await importing(path, async () => {
      await network.pass(hourMs, hourMs)
      expect(await relationWith(bob)).toBe('disconnected')
      expect(await relationWith({ ...bob, idTag: 'carol.localhost' as IdTag })).toBe('disconnected')
      await post(network, bob, 'for friends of bob', { visibility: 'C' })
      expect(await feedOf({ ...alice, client: await site.target.as(alice.idTag) })).not.toContain(
        'for friends of bob',
      )
    })
  })

  test('sets nothing that administrators decide, and takes no other name', async () => {
    const setting = (name: string, value: unknown): ArchiveRow => ({
      name,
      value: JSON.stringify(value),
      value_sealed: null,
      is_free: 0,
      bytes: 1,
      updated_at: 1,
    })
    const path = await changed((archive) => {
      archive.about.tenant.appDomain = 'app.bank.localhost'
      archive.about.tenant.ownerTag = bob.idTag
      archive
        .rows('settings')
        .push(
          setting('limits.max_storage_gb', 0),
          setting('email.smtp.host', 'mail.bank.example'),
          setting('theme', 5),
          setting('theme', 'dark'),
          setting('ui.columns', [1, 2]),
        )
    })
    await importing(path, async ({ tenant, leftOut }) => {
      expect(leftOut.settings).toBe(3)
      expect(tenant).not.toHaveProperty('appDomain')
      expect(tenant).not.toHaveProperty('ownerTag')
      const { settings } = site.target.running.features.identity
      expect(await settings.find(tenant.tenantId, 'limits.max_storage_gb')).not.toBe(0)
      expect(await settings.find(tenant.tenantId, 'theme')).toBe('dark')
      const client = await site.target.as(alice.idTag)
      expect((await client.call(getSetting, { params: { name: 'ui.columns' } })).data).toEqual([
        'ui.columns',
        [1, 2],
      ])
    })
  })

  test('keeps a domain below its identity', async () => {
    const appDomain = `app.${alice.idTag}`
    const path = await changed((archive) => void Object.assign(archive.about.tenant, { appDomain }))
    await importing(path, async ({ tenant }) => {
      expect(tenant.appDomain).toBe(appDomain)
    })
  })

  const dear = `$argon2id$v=19$m=19456,t=600,p=1$${'A'.repeat(22)}$${'A'.repeat(43)}`
  const refusals: [string, (archive: TenantArchive) => void][] = [
    [
      'an action of its tenant that another key has signed',
      (archive) => {
        archive.rows('actions').push(forgedRow(archive, ownId, {}))
      },
    ],
    [
      'a profile of somebody else',
      (archive) => {
        archive.rows('profiles').push({ ...archive.rows('profiles')[0], id_tag: 'bank.example' })
      },
    ],
    [
      'a profile of another kind',
      (archive) => void Object.assign(archive.rows('profiles')[0] ?? {}, { type: 'community' }),
    ],
    [
      'a password hash that costs too much',
      (archive) => void Object.assign(archive.rows('accounts')[0] ?? {}, { password_hash: dear }),
    ],
    [
      'a key of another curve',
      (archive) => {
        const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
        const pem = String(publicKey.export({ type: 'spki', format: 'pem' }))
        Object.assign(archive.rows('signing_keys')[0] ?? {}, { public_key: pem })
      },
    ],
    [
      'other bytes behind the id of a file',
      (archive) => {
        Object.assign(archive.row('files', { file_id: fileId }), { salt: 'AAAAAAAAAAAAAAAAAAAAAA' })
      },
    ],
    [
      'a file of the year 10 000',
      (archive) =>
        void Object.assign(archive.row('files', { file_id: fileId }), { created_at: 253_402_300_800 }),
    ],
    [
      'a picture from before the year 1',
      (archive) =>
        void Object.assign(archive.row('files', { file_id: fileId }), { taken_at: -62_135_596_801 }),
    ],
    [
      'a file that takes less than nothing',
      (archive) => {
        Object.assign(archive.row('files', { file_id: fileId }), { size: -1_000_000 })
      },
    ],
    [
      'a blob that takes less than nothing',
      (archive) => void Object.assign(archive.rows('blobs')[0] ?? {}, { size: -1 }),
    ],
    [
      'a name that its tenant cannot give',
      (archive) => {
        archive.rows('managed_identities').push(givenName('bank.example'))
      },
    ],
    [
      'a key of such a name',
      (archive) => {
        const key = {
          key_hash: 'x',
          key_prefix: 'x',
          name: null,
          created_at: 1,
          last_used_at: null,
          expires_at: null,
        }
        archive.rows('identity_keys').push({ id_tag: 'bank.example', ...key })
      },
    ],
    [
      'an unknown kind of connection',
      (archive) => void Object.assign(archive.rows('relations')[0] ?? {}, { connection: 'married' }),
    ],
    [
      'an unknown change of a folder',
      (archive) => {
        archive
          .rows('folder_changes')
          .push({ folder_id: 'x', kind: 'eating', parent_id: null, started_at: 1 })
      },
    ],
    [
      'text in the place of a number',
      (archive) => void Object.assign(archive.rows('accounts')[0] ?? {}, { created_at: 'soon' }),
    ],
    [
      'nothing in the place of a number',
      (archive) => void Object.assign(archive.rows('accounts')[0] ?? {}, { created_at: null }),
    ],
    [
      'text that is no JSON',
      (archive) => void Object.assign(archive.row('files', { file_id: fileId }), { tags: '[' }),
    ],
    ['a row twice', (archive) => void archive.rows('files').push(archive.row('files', { file_id: fileId }))],
    [
      'rows that are made anew',
      (archive) => {
        archive.rows('storage_usage').push({ used_bytes: 0, files: 0 })
      },
    ],
    [
      'a delivery to nobody',
      (archive) => {
        const payload = JSON.stringify({ actionId: ownId, inboxUrl: 'x', recipients: ['Nobody'] })
        archive.jobs.push({ kind: 'outbox.deliver', payload, runAtMs: 0 })
      },
    ],
    [
      'a job with other members',
      (archive) => {
        archive.jobs.push({ kind: 'actions.announce', payload: '{"actionId":5}', runAtMs: 0 })
      },
    ],
    ...stayingJobs.map((kind): (typeof refusals)[number] => [
      `a job ${kind}`,
      (archive) => void archive.jobs.push({ kind, payload: '{}', runAtMs: 0 }),
    ]),
  ]

  test.each(refusals)('is refused with %s, and nothing of it stays', async (_, change) => {
    const { services, features } = site.target.running
    const refused = importTenant(importDeps(services, features.identity), await changed(change))
    await expect(refused).rejects.toMatchObject({
      code: 'E-VALIDATION',
      message: expect.stringMatching(/^This file cannot be imported: /),
    })
    expect(await features.identity.tenants.find(alice.idTag)).toBeUndefined()
  })

  test('with random changes changes nothing of anybody else', async () => {
    const dice = new Dice(testSeed())
    let taken = 0
    for (let run = 0; run < runsOf(20); run += 1) {
      const before = await rowsOfOthers()
      const path = await changed((archive) => scramble(archive, dice))
      try {
        await importing(path, () => network.pass(hourMs, hourMs))
        taken += 1
      } catch (error) {
        expect(error).toMatchObject({ code: 'E-VALIDATION' })
      }
      expect(await rowsOfOthers()).toEqual(before)
    }
    expect(taken).toBeGreaterThan(0)
  })

  function givenName(idTag: string): ArchiveRow {
    const times = { created_at: 1, updated_at: 1, expires_at: 4_000_000_000, last_seen_at: null }
    const owners = { registrar_tag: alice.idTag, owner_tag: null, email: null }
    const rest = { address: null, address_updated_at: null, status: 'active', dyndns: 0 }
    return { id_tag: idTag, label: 'x', reversed_name: 'x', ...owners, ...rest, ...times }
  }

  /** Every row of the other tenants of the server, but for what its own work leaves. */
  async function rowsOfOthers(): Promise<Record<string, unknown[]>> {
    const reader = site.target.db.reader(serverTenant)
    const tenant = await site.target.running.features.identity.tenants.find(alice.idTag)
    const rows: Record<string, unknown[]> = {}
    for (const { name } of await listTenantTables(reader)) {
      if (ownWork.includes(name)) continue
      const all = await reader
        .tables<Record<string, { tenant_id: number }>>()
        .selectFrom(name)
        .selectAll()
        .where('tenant_id', 'not in', [serverTenant, tenant?.tenantId ?? serverTenant])
        .execute()
      // When people were here is counted all the time.
      rows[name] = all.map((row) => ({ ...row, active_day: undefined }))
    }
    return rows
  }
})

// Sweeps, leases and last uses.
const ownWork = ['jobs', 'job_groups', 'job_leases', 'sessions', 'browser_sessions', 'audit_log']

/** Changes some values at random: to others of the same column, of other columns, and to odd ones. */
function scramble(archive: TenantArchive, dice: Dice): void {
  const odd = [null, 0, 1, -1, 2 ** 40, '', 'bob.localhost', 'two.localhost', 'P', 'A', 'C', 'D', '{}', '[]']
  const tables = [...archive.tables.entries()].filter(([, rows]) => rows.length > 0)
  const anyRow = () => dice.pick(dice.pick(tables)[1])
  for (let change = 0; change < 1 + dice.below(6); change += 1) {
    const row = anyRow()
    const column = dice.pick(Object.keys(row))
    const other = anyRow()
    row[column] = dice.isIn(0.5) ? dice.pick(odd) : (other[dice.pick(Object.keys(other))] ?? null)
  }
}
