import { createHash } from 'node:crypto'
import {
  type ActionId,
  acceptAction,
  confirmEmail,
  createAction,
  deleteAction,
  deleteManagedIdentity,
  type FileId,
  getAction,
  getFileMetadata,
  type IdTag,
  listActions,
  type RefId,
  setPassword,
  uploadFile,
} from '@kith/protocol'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { referenceHash } from '#features/accounts/index.ts'
import { ownActionId } from '#features/actions/index.ts'
import { sweepCopies } from '#features/files/copies/sweep-copies.ts'
import { findUsage, sumUsage } from '#features/files/upload/storage-store.ts'
import { changeStatus, findRelation, statusOf } from '#features/relations/index.ts'
import { ImportSite } from '#harness/import-site.ts'
import { type ArchiveRow, forgedRow, ownRow, type TenantArchive } from '#harness/tenant-archive.ts'
import { type Person, TestNetwork } from '#harness/test-network.ts'
import { type Database, serverTenant, type TenantId, type Writer } from '#infra/db/index.ts'
import { Failure } from '#lib/failure.ts'
import { connect, feedOf, follow, post } from './acts.ts'

const hourMs = 3_600_000
const minuteMs = 60_000
const largest = Number.MAX_SAFE_INTEGER

describe('a hostile archive', () => {
  let network: TestNetwork
  let site: ImportSite
  let alice: Person
  let bob: Person
  let dora: Person
  let eve: Person
  /** Has asked alice for a connection, and waits. */
  let fay: Person
  /** Was connected with alice, ended that after the archive was written, and has said much since. */
  let gus: Person
  let ownId: ActionId
  let fileId: FileId
  /** Of dora, public, reposted by alice; dora deleted it after the archive was written. */
  let regretId: ActionId

  beforeAll(async () => {
    network = await TestNetwork.start(3)
    alice = await network.person(0, 'alice')
    site = await ImportSite.open(network, alice.idTag)
    bob = await network.person(1, 'bob')
    dora = await network.person(2, 'dora')
    eve = await network.person(2, 'eve')
    await connect(network, alice, dora)
    fay = await network.person(2, 'fay')
    gus = await network.person(2, 'gus')
    await connect(network, alice, eve)
    await connect(network, alice, gus)
    await connect(network, alice, bob)
    await connect(network, bob, gus)
    await connect(network, bob, eve)
    await follow(network, alice, dora)
    await follow(network, bob, dora)
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
    regretId = await say(dora, { type: 'POST', ...text('regretted') })
    await say(alice, { type: 'REPOST', subject: regretId, visibility: 'P' })
    await say(fay, { type: 'CONN', audienceTag: alice.idTag })
    const early = { createdAt: '2030-01-01T00:00:00Z' }
    await alice.client.upload(uploadFile, { params, query: early, body: new Blob(['early']) })
    await site.export()
    // What happened after it was written.
    await network.pass(2 * minuteMs)
    await dora.client.call(deleteAction, { params: { actionId: regretId } })
    for (const person of [eve, gus, bob])
      await say(person, { type: 'CONN', subType: 'DEL', audienceTag: alice.idTag })
    for (let at = 0; at < 55; at += 1) await post(network, gus, `post ${at}`, { visibility: 'P' })
    await network.pass(10 * minuteMs)
    await network.server(0).suspend(alice.idTag)
    network.announce(1, alice.idTag)
  })

  afterAll(async () => {
    await network[Symbol.asyncDispose]()
    await site[Symbol.asyncDispose]()
  })

  const changed = (change?: (archive: TenantArchive) => void) => site.changed(change)
  const attempt = (path: string) => site.attempt(path)
  const importing: ImportSite['importing'] = (path, work) => site.importing(path, work)

  type Rows = Record<string, Record<string, unknown>>

  async function put(tenantId: TenantId, table: string, row: Record<string, unknown>): Promise<void> {
    await site.target.db.transact(tenantId, async (tx: Writer) => {
      await tx
        .tables<Rows>()
        .insertInto(table)
        .values({ tenant_id: tenantId, ...row })
        .execute()
    })
  }

  async function rowsOf(tenantId: TenantId, table: string): Promise<Record<string, unknown>[]> {
    return await site.target.db
      .reader(tenantId)
      .tables<Rows>()
      .selectFrom(table)
      .selectAll()
      .where('tenant_id', '=', tenantId)
      .execute()
  }

  /** A database that fails after so many statements: what would never end ends here. */
  function bounded(db: Database, most: number): Database {
    let left = most
    const guard = <Handle extends object>(handle: Handle): Handle =>
      new Proxy(handle, {
        get(it, key) {
          if (key === 'tables' || key === 'run' || key === 'first' || key === 'change') {
            left -= 1
            if (left < 0) throw new Error('endless')
          }
          const value: unknown = Reflect.get(it, key, it)
          return typeof value === 'function' ? value.bind(it) : value
        },
      })
    return {
      reader: (tenantId: TenantId) => guard(db.reader(tenantId)),
      transact: (tenantId: TenantId, work: (tx: Writer) => Promise<unknown>, options?: never) =>
        db.transact(tenantId, (tx) => work(guard(tx)), options),
    } as unknown as Database
  }

  function sweepDeps(db: Database) {
    const { clock, jobs } = site.target.running.services
    const emit = async () => undefined
    const beforeRemoval = async () => undefined
    return { db, clock, jobs, emit, beforeRemoval } as unknown as Parameters<typeof sweepCopies>[0]
  }

  const folderIdOf = (at: number) => `d1~${createHash('sha256').update(String(at)).digest('base64url')}`

  function folderRow(archive: TenantArchive, at: number, change: ArchiveRow): ArchiveRow {
    const like = archive.rows('files')[0] ?? {}
    const bare = { blob_hash: null, salt: null, size: 0, content_type: 'inode/directory', status: 'A' }
    return { ...like, ...bare, file_id: folderIdOf(at), file_tp: 'FLDR', file_name: `f${at}`, ...change }
  }

  /** The status that administrators of the target have given alice's name. */
  async function standing(): Promise<string | undefined> {
    const decided = await findRelation(site.target.db.reader(serverTenant), alice.idTag)
    return decided && statusOf(decided)
  }

  async function decide(status: 'Suspended' | 'Banned' | 'Blocked' | 'Active'): Promise<void> {
    const { services, features } = site.target.running
    const deps = { clock: services.clock, jobs: services.jobs, emit: features.identity.emit }
    await site.target.db.transact(serverTenant, async (tx) => {
      await changeStatus(deps as never, tx, alice.idTag, { status })
    })
  }

  test.each(['password-reset', 'email-change'])(
    'proves no address by a link of its own: %s',
    async (type) => {
      const refId = 'AAAAAAAAAAAAAAAAAAAAAAAA' as RefId
      const now = Math.floor(network.clock.now() / 1000)
      const path = await changed((archive) => {
        Object.assign(archive.rows('accounts')[0] ?? {}, { email: 'victim@example.org' })
        archive.rows('refs').push({
          ref_hash: referenceHash(refId),
          ref_sealed: Buffer.from(refId).toString('base64'),
          type,
          created_by: null,
          description: null,
          created_at: now,
          expires_at: now + 3600,
          count: 1,
          resource_id: 'mailto:victim@example.org',
          access_level: null,
          used_up_at: null,
        })
      })
      await importing(path, async ({ tenant }) => {
        expect(await rowsOf(tenant.tenantId, 'refs')).toEqual([])
        const guest = site.target.client(alice.idTag)
        const using =
          type === 'email-change'
            ? guest.call(confirmEmail, { body: { token: refId } })
            : guest.call(setPassword, { body: { token: refId, password: 'a password of eve' } })
        await expect(using).rejects.toMatchObject({ status: 404 })
      })
    },
  )

  test('does not lift what administrators decided about its name, when it is refused', async () => {
    await decide('Suspended')
    const path = await changed((archive) => void archive.jobs.push({ kind: 'x', payload: '{}', runAtMs: 0 }))
    await expect(attempt(path)).rejects.toBeInstanceOf(Failure)
    const after = await standing()
    await decide('Active')
    expect(after).toBe('Suspended')
  })

  test.each(['Banned', 'Blocked'] as const)(
    'does not lift by its name what administrators have decided: %s',
    async (status) => {
      await decide(status)
      const attempted = attempt(await changed())
      await expect(attempted).rejects.toMatchObject({ code: 'E-STATE' })
      const after = await standing()
      await decide('Active')
      expect(after).toBe(status)
    },
  )

  test('does not keep unused blobs of others from their sweep by an odd name of one', async () => {
    await importing(await changed(), async ({ tenant }) => {
      const blob = { size: 1, uses: 0, unused_since: 1, is_leaving: 0, kind: 'others' }
      const { tenantId } = await site.target.createTenant(`later${site.archives}.localhost`)
      await put(tenant.tenantId, 'blobs', { ...blob, blob_hash: 'no hash' })
      await put(tenantId, 'blobs', { ...blob, blob_hash: 'ab'.repeat(32) })
      await network.pass(45 * minuteMs, 5 * minuteMs)
      expect(await rowsOf(tenantId, 'blobs')).toEqual([])
    })
  })

  test('does not keep the sweep of copies busy forever by files that end and are no copies', async () => {
    const path = await changed((archive) => {
      for (let at = 0; at < 50; at += 1)
        archive.rows('files').push(folderRow(archive, at, { parent_id: null, is_copy: 0 }))
    })
    await importing(path, async ({ tenant }) => {
      // An archive cannot say so, but rows of an older version may.
      const set = async (expires_at: number | null) =>
        await site.target.db.transact(tenant.tenantId, async (tx) => {
          await tx
            .tables<Rows>()
            .updateTable('files')
            .set({ expires_at })
            .where('file_tp', '=', 'FLDR')
            .execute()
        })
      await set(1)
      const swept = sweepCopies(sweepDeps(bounded(site.target.db, 5000)))
      try {
        await expect(swept).resolves.toBeUndefined()
      } finally {
        await set(null)
      }
    })
  })

  test('does not keep databases of others from their snapshots by some that never come to an end', async () => {
    const state = { last_seq: 1, bytes: 0, counted_bytes: 0, log_bytes: 0, writers: '[]' }
    const path = await changed((archive) => {
      for (let at = 0; at < 100; at += 1) {
        const file_id = `d${at}`
        archive.rows('rtdb_databases').push({ file_id, ...state, snapshot_due_at: 0 })
        const snapshot = { seq: 1, created_at: 1, size: 0, stored_bytes: -1, writers: '[]' }
        archive.rows('rtdb_snapshots').push({ file_id, ...snapshot })
        archive.rows('rtdb_snapshot_parts').push({ file_id, seq: 1, part: 0, data: 'AA==' })
        const document = { collection: 'c', doc_id: 'x', collection_path: null, data: '{}' }
        archive.rows('rtdb_documents').push({ file_id, size: 5, ...document })
      }
    })
    await importing(path, async () => {
      const file_id = `bobs${site.archives}`
      await put(bob.tenantId, 'rtdb_databases', { file_id, ...state, snapshot_due_at: 1 })
      await network.pass(hourMs, 5 * minuteMs)
      const rows = await rowsOf(bob.tenantId, 'rtdb_snapshots')
      expect(rows.filter((row) => row.file_id === file_id)).toHaveLength(1)
    })
  })

  test('does not keep shares of others from their end by a reference without its secret', async () => {
    await importing(await changed(), async ({ tenant }) => {
      const share = {
        resource_id: fileId,
        permission: 'R',
        created_by: alice.idTag,
        created_at: 1,
        is_derived: 0,
      }
      await put(tenant.tenantId, 'refs', {
        ...{ ref_hash: 'h', ref_sealed: Buffer.alloc(0), type: 'share.file', description: null },
        ...{ created_by: alice.idTag, created_at: 1, resource_id: fileId, access_level: 'read' },
      })
      await put(tenant.tenantId, 'shares', {
        ...{ ...share, subject_type: 'L', subject_id: 'x', expires_at: 1, ref_hash: 'h' },
      })
      const params = { preset: 'default', fileName: 'of-bob.txt' } as const
      const body = new Blob(['of bob'], { type: 'text/plain' })
      const { data } = await bob.client.upload(uploadFile, { params, body })
      await put(bob.tenantId, 'shares', {
        ...{ ...share, resource_id: data.fileId, subject_type: 'U', subject_id: 'carol.localhost' },
        ...{ expires_at: 2, created_by: bob.idTag, ref_hash: null },
      })
      await network.pass(10 * minuteMs)
      expect(await rowsOf(bob.tenantId, 'shares')).toEqual([])
    })
  })

  test('counts bytes for the quota, whatever its rows say of their size', async () => {
    const path = await changed((archive) => {
      const hash = archive.row('files', { file_id: fileId }).blob_hash ?? ''
      archive.row('blobs', { blob_hash: hash }).size = 0
    })
    await importing(path, async ({ tenant }) => {
      expect((await findUsage(site.target.db.reader(tenant.tenantId))).usedBytes).toBeGreaterThanOrEqual(5)
    })
  })

  test('counts the content of documents for the quota', async () => {
    const path = await changed((archive) => {
      const like = archive.row('files', { file_id: fileId })
      const bare = { blob_hash: null, salt: null, size: 0, content_type: 'x/y' }
      const file_id = `f1~${folderIdOf(7).slice(3)}`
      archive.rows('files').push({ ...like, ...bare, file_id, file_tp: 'CRDT', file_name: 'd' })
      const bytes = Buffer.alloc(1_000_000).toString('base64')
      archive
        .rows('crdt_updates')
        .push({ file_id, seq: 1, part: 0, bytes, writers: '[]', updates: 1, quarantined_at: null })
    })
    await importing(path, async ({ tenant }) => {
      expect((await findUsage(site.target.db.reader(tenant.tenantId))).usedBytes).toBeGreaterThan(1_000_000)
    })
  })

  test('does not break the sum over all tenants by its sizes', async () => {
    const path = await changed((archive) => {
      const row = archive.rows('blobs')[0] ?? {}
      for (let at = 0; at < 1024; at += 1) {
        const blob_hash = createHash('sha256').update(String(at)).digest('hex')
        const size = at === 0 ? largest - 2 ** 21 : largest
        archive.rows('blobs').push({ ...row, blob_hash, size, uses: 1 })
      }
    })
    const params = { preset: 'default', fileName: 'large.txt' } as const
    const body = new Blob(['x'.repeat(5_000_000)], { type: 'text/plain' })
    await bob.client.upload(uploadFile, { params, body })
    await importing(path, async () => {
      expect(await sumUsage(site.target.db.reader(serverTenant))).toMatchObject({ files: expect.any(Number) })
    })
  })

  const refusals: [string, (archive: TenantArchive) => void][] = [
    [
      'a number that is not exact',
      (archive) => {
        const hash = archive.row('files', { file_id: fileId }).blob_hash ?? ''
        archive.row('blobs', { blob_hash: hash }).uses = 2 ** 60
      },
    ],
    [
      'sizes that are no sum',
      (archive) => {
        for (let at = 0; at < 8300; at += 1) {
          const document = { file_tp: 'CRDT', size: 2 ** 50, content_type: 'x/y', parent_id: null }
          const file_id = `f1~${folderIdOf(at).slice(3)}`
          archive.rows('files').push(folderRow(archive, at, { ...document, file_id, file_name: 'd' }))
        }
      },
    ],
    ['a draft in no thread', (archive) => void scheduled(archive, { status: 'R', parent_id: 'nothing' })],
    ['a draft with no file', (archive) => void scheduled(archive, { status: 'R', attachments: '["@1"]' })],
    [
      'an own action of a time to come',
      (archive) => {
        archive.rows('actions').push(ownRow(archive, ownId, { iat: 4e9, createdAt: 4e9 }))
      },
    ],
    [
      'a time of its tenant beyond all numbers',
      (archive) => Object.assign(archive.about.tenant, { createdAt: 1e300 }),
    ],
    [
      'an odd name of a blob',
      (archive) => {
        archive.rows('blobs').push({ ...archive.rows('blobs')[0], blob_hash: 'no hash' })
      },
    ],
    [
      'a folder that is in itself',
      (archive) => {
        const started_at = Math.floor(network.clock.now() / 1000)
        archive.rows('files').push(folderRow(archive, 1, { parent_id: folderIdOf(1), status: 'D' }))
        archive
          .rows('folder_changes')
          .push({ folder_id: folderIdOf(1), kind: 'removing', parent_id: null, started_at })
      },
    ],
    [
      'a file that ends and is no copy',
      (archive) => {
        archive.rows('files').push(folderRow(archive, 1, { parent_id: null, is_copy: 0, expires_at: 1 }))
      },
    ],
    [
      'JSON of another form',
      (archive) => {
        const snapshot = { created_at: 1, size: 0, quarantined_at: null }
        archive.rows('crdt_snapshots').push({ file_id: 'x', seq: 1, ...snapshot, writers: '5' })
      },
    ],
    [
      'a time to come',
      (archive) => {
        const snapshot = { created_at: 2 ** 40, size: 0, stored_bytes: 1, writers: '[]' }
        archive.rows('rtdb_snapshots').push({ file_id: 'x', seq: 1, ...snapshot })
      },
    ],
    [
      'a reference without its secret',
      (archive) => {
        archive.rows('refs').push({
          ...{ ref_hash: 'h', ref_sealed: '', type: 'share.file', created_by: alice.idTag, created_at: 1 },
          ...{ description: null, expires_at: null, count: null, used_up_at: null },
          ...{ resource_id: fileId, access_level: 'read' },
        })
      },
    ],
    [
      'notes of who has read what',
      (archive) => {
        archive.rows('comment_reads').push({ comment_id: '1', reader_tag: 'x.localhost', day: 10 ** 9 })
      },
    ],
    [
      'push subscriptions',
      (archive) => {
        const target_sealed = Buffer.from('{}').toString('base64')
        archive.rows('push_subscriptions').push({
          ...{ subscriber_tag: alice.idTag, sid: 's', endpoint_hash: 'h', target_sealed },
          ...{ expires_at: null, created_at: 1 },
        })
      },
    ],
    [
      'a job that is too large',
      (archive) => {
        const payload = JSON.stringify({ actionId: 'x'.repeat(1_100_000) })
        archive.jobs.push({ kind: 'actions.announce', payload, runAtMs: 0 })
      },
    ],
    [
      'a delivery to very many',
      (archive) => {
        const recipients = Array.from({ length: 40_000 }, (_, at) => `u${at}.bank.example`)
        const payload = JSON.stringify({ actionId: ownId, inboxUrl: 'x', recipients })
        archive.jobs.push({ kind: 'outbox.deliver', payload, runAtMs: 0 })
      },
    ],
    [
      'a history of no identity',
      (archive) => {
        const payload = JSON.stringify({ idTag: 'bank.example:8443/steal?x=' })
        archive.jobs.push({ kind: 'inbox.fetch-history', payload, runAtMs: 8.64e15 })
      },
    ],
  ]

  test.each(refusals)('is refused in words with %s', async (_, change) => {
    const error = await attempt(await changed(change)).catch((failure) => failure)
    await site.remove()
    expect(error).toMatchObject({
      code: 'E-VALIDATION',
      message: expect.stringMatching(/^This file cannot be imported: /),
    })
  })

  function givenName(idTag: string, change: ArchiveRow): ArchiveRow {
    const times = { created_at: 1, updated_at: 1, expires_at: 4_000_000_000, last_seen_at: null }
    const owners = { registrar_tag: alice.idTag, owner_tag: null, email: null }
    const rest = { address: null, address_updated_at: null, status: 'active', dyndns: 0 }
    return { id_tag: idTag, label: 'x', reversed_name: 'x', ...owners, ...rest, ...times, ...change }
  }

  test('takes no right from a tenant of this server that has a name which it gives', async () => {
    const shopTag = `shop2.${alice.idTag}`
    await site.target.createTenant(shopTag)
    await site.target.relate(bob.idTag, shopTag, { isFollower: true })
    const path = await changed((archive) => {
      archive.rows('managed_identities').push(givenName(shopTag, {}))
    })
    const imported = await attempt(path).catch(() => undefined)
    if (imported) {
      const setting = { value: 'true', value_sealed: null, is_free: 0, bytes: 4, updated_at: 1 }
      // As an administrator does for a provider who moves here.
      await put(imported.tenant.tenantId, 'settings', { name: 'idp.enabled', ...setting })
      await network.pass(minuteMs)
      const client = await site.target.as(alice.idTag)
      await client.call(deleteManagedIdentity, { params: { id: shopTag } })
      await network.pass(5 * minuteMs)
    }
    const relation = await findRelation(site.target.db.reader(bob.tenantId), shopTag as IdTag)
    await site.remove()
    expect(relation).toMatchObject({ isFollower: true })
  })

  test('makes nobody the leader of its community, so that administrators can suspend everybody', async () => {
    const path = await changed((archive) => {
      archive.about.tenant.type = 'community'
      Object.assign(archive.rows('profiles')[0] ?? {}, { type: 'community' })
      const row = archive.row('relations', { id_tag: dora.idTag })
      archive.rows('relations').push({ ...row, id_tag: bob.idTag, role: 'leader', connection: 'connected' })
    })
    await importing(path, async () => {
      const error = await site.target
        .suspend(bob.idTag)
        .then(() => undefined)
        .catch((failure) => failure)
      if (!error) await site.target.resume(bob.idTag)
      expect(error).toBeUndefined()
    })
  })

  async function shown(actionId: ActionId): Promise<unknown> {
    const client = site.target.client(alice.idTag)
    const answer = await client.call(getAction, { params: { actionId } }).catch((error) => error)
    return 'data' in answer ? answer.data : answer.code
  }

  test('shows guests nothing that its issuer has deleted since, as this server knows', async () => {
    await importing(await changed(), async () => {
      await network.pass(3 * hourMs, hourMs)
      expect((await rowsOf(serverTenant, 'tombstones')).map((row) => row.action_id)).toContain(regretId)
      expect(await shown(ownId)).toMatchObject({ content: { text: 'mine' } })
      expect(await shown(regretId)).toBe('E-ACTION-NOTFOUND')
    })
  })

  test('does not let read what a former friend says to friends', async () => {
    await importing(await changed(), async () => {
      await network.pass(3 * hourMs, hourMs)
      await post(network, eve, 'for my friends', { visibility: 'C' })
      const client = await site.target.as(alice.idTag)
      expect(await feedOf({ ...alice, client })).not.toContain('for my friends')
    })
  })

  const requestOf = ({ idTag }: Person, archive: TenantArchive) =>
    archive.row('actions', { type: 'CONN', issuer_tag: idTag, sub_type: null })

  test.each<[string, (archive: TenantArchive) => void]>([
    ['that says it waits', (archive) => void Object.assign(requestOf(gus, archive), { status: 'P' })],
    [
      'that was held for it',
      (archive) => {
        const request = requestOf(gus, archive)
        archive.tables.set(
          'actions',
          archive.rows('actions').filter((row) => row !== request),
        )
        archive.jobs.push({
          kind: 'inbox.hold',
          payload: JSON.stringify({ token: request.token }),
          runAtMs: 0,
        })
      },
    ],
  ])('does not connect with a former friend again by an old request %s', async (_, change) => {
    const path = await changed((archive) => {
      change(archive)
      archive.row('relations', { id_tag: gus.idTag }).connection = 'requested'
    })
    await importing(path, async ({ tenant }) => {
      await network.pass(3 * hourMs, hourMs)
      const relation = await findRelation(site.target.db.reader(tenant.tenantId), gus.idTag)
      expect(relation?.connection).toBe('requested')
      await post(network, gus, `for my friends ${site.archives}`, { visibility: 'C' })
      const client = await site.target.as(alice.idTag)
      expect(await feedOf({ ...alice, client })).not.toContain(`for my friends ${site.archives}`)
    })
  })

  test('makes nobody the leader of its community by an old request', async () => {
    const path = await changed((archive) => {
      archive.about.tenant.type = 'community'
      Object.assign(archive.rows('profiles')[0] ?? {}, { type: 'community' })
      requestOf(bob, archive).status = 'P'
      const role = { role: 'leader', connection: 'requested' }
      Object.assign(archive.row('relations', { id_tag: bob.idTag }), role)
    })
    await importing(path, async ({ tenant }) => {
      await network.pass(3 * hourMs, hourMs)
      const relation = await findRelation(site.target.db.reader(tenant.tenantId), bob.idTag)
      expect(relation?.role).toBeUndefined()
    })
  })

  test('keeps a request that waits for an answer, and lets it be accepted', async () => {
    await importing(await changed(), async ({ tenant }) => {
      await network.pass(3 * hourMs, hourMs)
      const relation = () => findRelation(site.target.db.reader(tenant.tenantId), fay.idTag)
      expect(await relation()).toMatchObject({ connection: 'asked' })
      const client = await site.target.as(alice.idTag)
      const { data } = await client.call(listActions, { query: { type: ['CONN'], status: ['C'] } })
      const asked = data.find(({ issuer }) => issuer.idTag === fay.idTag)
      await client.call(acceptAction, { params: { actionId: asked?.actionId ?? ('' as ActionId) } })
      await network.pass(26 * hourMs, hourMs)
      expect(await relation()).toMatchObject({ connection: 'connected' })
    })
  })

  test('says of no file that somebody else has put it there', async () => {
    const path = await changed((archive) => {
      Object.assign(archive.row('files', { file_id: fileId }), { owner_tag: bob.idTag, visibility: 'P' })
    })
    await importing(path, async () => {
      const answer = await site.target.client(alice.idTag).call(getFileMetadata, { params: { fileId } })
      expect(answer.data.owner.idTag).toBe(alice.idTag)
    })
  })

  test('signs nobody in but its tenant', async () => {
    const path = await changed((archive) => {
      const key = { method: 'apikey', caller_tag: bob.idTag, created_at: 1 }
      archive.rows('sessions').push({ sid: 's', secret_hash: 'h', ...key })
    })
    await importing(path, async ({ tenant }) => {
      expect(await rowsOf(tenant.tenantId, 'sessions')).toEqual([])
    })
  })

  test('vouches for no comment that nobody has verified', async () => {
    let forgedId = '' as ActionId
    const path = await changed((archive) => {
      const row = forgedRow(archive, ownId, {
        type: 'CMNT',
        issuerTag: dora.idTag,
        parentId: ownId,
        content: { text: 'never said' },
        attachments: undefined,
        visibility: undefined,
      })
      forgedId = row.action_id as ActionId
      archive.rows('actions').push(row)
      const payload = JSON.stringify({ actionId: forgedId })
      archive.jobs.push({ kind: 'actions.announce', payload, runAtMs: 0 })
    })
    await importing(path, async ({ tenant }) => {
      await network.pass(hourMs, hourMs)
      const rows = await rowsOf(tenant.tenantId, 'actions')
      expect(rows.filter((row) => row.action_id === forgedId)).toMatchObject([{ unverified: 1 }])
      expect(rows.filter((row) => row.type === 'ANNC' && row.subject === forgedId)).toEqual([])
    })
  })

  test('does not keep names of others from their end by many of its own', async () => {
    const path = await changed((archive) => {
      for (let at = 0; at < 2000; at += 1)
        archive
          .rows('managed_identities')
          .push(givenName(`n${at}.${alice.idTag}`, { status: 'pending', expires_at: 0 }))
    })
    await importing(path, async () => {
      const id_tag = `n${site.archives}.${bob.idTag}`
      const named = { id_tag, label: 'n', reversed_name: 'x', registrar_tag: bob.idTag, status: 'pending' }
      const times = { dyndns: 0, created_at: 1, updated_at: 1, expires_at: 5 }
      await put(bob.tenantId, 'managed_identities', { ...named, ...times })
      await network.pass(6 * hourMs, hourMs)
      const rows = await rowsOf(bob.tenantId, 'managed_identities')
      expect(rows.filter((row) => row.id_tag === id_tag)).toEqual([])
    })
  })

  /** A post of alice's that was scheduled when the archive was written. */
  function scheduled(archive: TenantArchive, change: ArchiveRow): ActionId {
    const nonce = `${'scheduled'.padEnd(21, 'A')}A`
    const actionId = ownActionId(alice.idTag, nonce)
    const row = archive.row('actions', { action_id: ownId })
    const bare = { token: null, status: 'S', issued_at: 0, unique_key: null, x: null }
    archive.rows('actions').push({ ...row, ...bare, action_id: actionId, nonce, ...change })
    return actionId
  }

  test('does not speak for those who never were members of its community', async () => {
    let actionId = '' as ActionId
    const path = await changed((archive) => {
      archive.about.tenant.type = 'community'
      Object.assign(archive.rows('profiles')[0] ?? {}, { type: 'community' })
      const relation = archive.row('relations', { id_tag: dora.idTag })
      const member = { id_tag: bob.idTag, role: 'contributor', connection: 'connected' }
      archive.rows('relations').push({ ...relation, ...member })
      const publish_at = Math.floor(network.clock.now() / 1000) + 300
      const said = { content: '{"text":"bob never said this"}', attachments: null }
      actionId = scheduled(archive, { ...said, author_tag: bob.idTag, publish_at })
    })
    await importing(path, async () => {
      await network.pass(10 * minuteMs)
      expect(JSON.stringify(await shown(actionId))).not.toContain(bob.idTag)
    })
  })

  test('keeps a scheduled post of a member as a draft, since nobody can tell that the member wrote it', async () => {
    let actionId = '' as ActionId
    const path = await changed((archive) => {
      archive.about.tenant.type = 'community'
      Object.assign(archive.rows('profiles')[0] ?? {}, { type: 'community' })
      Object.assign(archive.row('relations', { id_tag: dora.idTag }), { role: 'contributor' })
      const publish_at = Math.floor(network.clock.now() / 1000) + 600
      const said = { content: '{"text":"scheduled"}', attachments: null }
      actionId = scheduled(archive, { ...said, author_tag: dora.idTag, publish_at })
    })
    await importing(path, async ({ tenant }) => {
      await network.pass(20 * minuteMs)
      expect(await shown(actionId)).toBe('E-ACTION-NOTFOUND')
      const rows = await rowsOf(tenant.tenantId, 'actions')
      expect(rows.filter((row) => row.action_id === actionId)).toMatchObject([{ status: 'R' }])
    })
  })
})
