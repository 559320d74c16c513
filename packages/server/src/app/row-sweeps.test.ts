import type { Kysely } from 'kysely'
import { expect, test } from 'vitest'
import { addBusSweep } from '#features/bus/index.ts'
import { addProfileSweep } from '#features/profiles/index.ts'
import { eachDialect, type OpenTestDatabase } from '#harness/each-dialect.ts'
import { planStatements } from '#harness/recorded-statements.ts'
import { TestClock } from '#harness/test-clock.ts'
import { serverTenant } from '#infra/db/index.ts'
import { openJobs, rowsPerPortion } from '#infra/jobs/index.ts'
import { silentLogger } from '#infra/telemetry/index.ts'
import { migrations } from './migrations.ts'
import { addRowSweeps } from './row-sweeps.ts'

type Row = Readonly<Record<string, string | number | null | Uint8Array>>
type AnyTables = Record<string, Record<string, unknown>>

const daySecs = 86_400
const many = 2 * rowsPerPortion + 1

async function openLab(open: OpenTestDatabase['forPlans']) {
  const clock = new TestClock()
  const db = await open({ migrations, clock })
  const now = Math.floor(clock.now() / 1000)
  const tables = () => db.reader(serverTenant).tables<AnyTables>() as unknown as Kysely<AnyTables>
  return {
    db,
    clock,
    now,
    put: (table: string, rows: readonly Row[]) =>
      db.transact(serverTenant, async (tx) => {
        for (let from = 0; from < rows.length; from += 500)
          await (tx.tables<AnyTables>() as unknown as Kysely<AnyTables>)
            .insertInto(table)
            .values(rows.slice(from, from + 500))
            .execute()
      }),
    async list(table: string, column: string): Promise<unknown[]> {
      const rows = await tables().selectFrom(table).select(column).orderBy(column).execute()
      return rows.map((row) => row[column])
    },
    /** What a server does when it starts: all sweeps once. */
    async sweep(more: Parameters<typeof addProfileSweep>[1] = {}) {
      const jobs = openJobs({ db, clock, logger: silentLogger, nodeId: 'lab' })
      const deps = { db, clock, jobs }
      if (more.maxRows === undefined) addRowSweeps(deps)
      else addProfileSweep(deps, more)
      addBusSweep(deps)
      await jobs.start()
      await jobs.settle()
      await jobs.stop()
    },
  }
}

/** Rows of tenants that never write again, and one of a tenant that does not exist. */
function manyOf(row: (index: number, tenantId: number) => Row): Row[] {
  return Array.from({ length: many }, (_, index) => row(index, 1 + (index % 3)))
}

const session = { caller_tag: null, created_at: 0, signed_in_at: 0, last_used_at: 0, ip: '192.0.2.1' }
const reference = { ref_sealed: new Uint8Array([1]), type: 'invite', created_at: 0 }
const qrSession = { secret_hash: 'x', delivered: 0, created_at: 0, ip: '192.0.2.1' }

eachDialect('a sweep of all tenants', (open) => {
  test('removes entries of the audit log after 180 days', async () => {
    const { clock, put, list, sweep } = await openLab(open)
    const endMs = clock.now() - 180 * daySecs * 1000
    const entry = { event: 'x', details: '{}' }
    await put('audit_log', [
      ...manyOf((index, tenant_id) => ({ ...entry, tenant_id, entry_id: `old${index}`, at_ms: endMs - 1 })),
      { ...entry, tenant_id: 2, entry_id: 'kept', at_ms: endMs },
    ])
    await sweep()
    expect(await list('audit_log', 'entry_id')).toEqual(['kept'])
  })

  test('removes sessions a day after their end, and no API key that has expired', async () => {
    const { now, put, list, sweep } = await openLab(open)
    const end = now - daySecs
    const row = (sid: string, more: Row) => ({
      ...session,
      tenant_id: 2,
      sid,
      method: 'password',
      expires_at: null,
      revoked_at: null,
      ...more,
    })
    await put('sessions', [
      ...manyOf((index, tenant_id) => row(`expired${index}`, { tenant_id, expires_at: end - 1 })),
      ...manyOf((index, tenant_id) => row(`revoked${index}`, { tenant_id, revoked_at: end - 1 })),
      row('1 ended today', { expires_at: end }),
      row('2 revoked today', { revoked_at: end, expires_at: now + 9 }),
      row('3 lives', { expires_at: now + 9 }),
      row('4 has no end', {}),
      row('5 is a key', { method: 'apikey', expires_at: 1 }),
      row('6 was a key', { method: 'apikey', revoked_at: 1 }),
    ])
    await sweep()
    expect((await list('sessions', 'sid')).map((sid) => Number(String(sid).charAt(0)))).toEqual([
      1, 2, 3, 4, 5,
    ])
  })

  test('removes subscriptions to pushes with their time, and with sessions that have ended', async () => {
    const { now, put, list, sweep } = await openLab(open)
    const subscription = (endpoint_hash: string, sid: string, more: Row = {}) => ({
      ...{
        tenant_id: 2,
        subscriber_tag: 'bob.example.com',
        target_sealed: new Uint8Array([1]),
        created_at: 0,
      },
      ...{ endpoint_hash, sid, expires_at: null, ...more },
    })
    const started = (sid: string, more: Row = {}) => ({
      ...{
        ...session,
        tenant_id: 2,
        sid,
        method: 'password',
        expires_at: now + 9,
        revoked_at: null,
        ...more,
      },
    })
    await put('sessions', [
      started('lives'),
      started('has no end', { expires_at: null }),
      started('expired today', { expires_at: now }),
      started('revoked today', { revoked_at: now }),
    ])
    await put('push_subscriptions', [
      ...manyOf((index, tenant_id) => subscription(`gone${index}`, `gone${index}`, { tenant_id })),
      ...manyOf((index, tenant_id) => subscription(`over${index}`, 'lives', { tenant_id, expires_at: now })),
      subscription('of an expired session', 'expired today'),
      subscription('of a revoked session', 'revoked today'),
      subscription('of a session elsewhere', 'lives', { tenant_id: 3 }),
      subscription('1', 'lives'),
      subscription('2', 'lives', { expires_at: now + 1 }),
      subscription('3', 'has no end'),
    ])
    await sweep()
    expect(await list('push_subscriptions', 'endpoint_hash')).toEqual(['1', '2', '3'])
  })

  test('removes references a month after they expired or were found used up', async () => {
    const { now, clock, put, list, sweep } = await openLab(open)
    const end = now - 30 * daySecs
    const row = (ref_hash: string, more: Row) => ({
      ...reference,
      tenant_id: 3,
      ref_hash,
      expires_at: null,
      count: 1,
      used_up_at: null,
      ...more,
    })
    await put('refs', [
      ...manyOf((index, tenant_id) => row(`expired${index}`, { tenant_id, expires_at: end })),
      ...manyOf((index, tenant_id) => row(`used${index}`, { tenant_id, count: 0, used_up_at: end })),
      row('expired since', { expires_at: end + 1 }),
      row('just used up', { count: 0 }),
      row('used by guests', { count: 0, used_up_at: end }),
      row('usable', {}),
      row('without limit', { count: null }),
    ])
    const guests = { ...session, tenant_id: 3, method: 'reference' }
    await put('sessions', [
      { ...guests, sid: 'ref-used by guests', last_used_at: now - 5 },
      { ...guests, sid: 'ref-used4', tenant_id: 2, last_used_at: end },
    ])
    await sweep()
    expect(await list('refs', 'ref_hash')).toEqual([
      'expired since',
      'just used up',
      'usable',
      'used by guests',
      'without limit',
    ])
    expect(await list('sessions', 'sid')).toEqual(['ref-used by guests'])
    clock.advance((30 * daySecs - 3) * 1000)
    await sweep()
    expect(await list('refs', 'ref_hash')).toEqual(['just used up', 'usable', 'without limit'])
    clock.advance(3_600_000)
    await sweep()
    expect(await list('refs', 'ref_hash')).toEqual(['usable', 'without limit'])
  })

  test('removes what is left of sign-ins', async () => {
    const { now, clock, put, list, sweep } = await openLab(open)
    const at = clock.now()
    await put('attempt_buckets', [
      ...manyOf((index, tenant_id) => ({ tenant_id, key_hash: `x${index}`, full_until_ms: at - 1 })),
      { tenant_id: 2, key_hash: 'full', full_until_ms: at },
    ])
    await put('qr_sessions', [
      ...manyOf((index, tenant_id) => ({
        ...qrSession,
        tenant_id,
        session_id: `x${index}`,
        expires_at: now - 301,
      })),
      { ...qrSession, tenant_id: 2, session_id: 'told that it has ended', expires_at: now - 300 },
    ])
    await put('passkey_challenges', [
      ...manyOf((index, tenant_id) => ({ tenant_id, challenge_hash: `x${index}`, expires_at: now })),
      { tenant_id: 2, challenge_hash: 'open', expires_at: now + 1 },
    ])
    await sweep()
    expect(await list('attempt_buckets', 'key_hash')).toEqual(['full'])
    expect(await list('qr_sessions', 'session_id')).toEqual(['told that it has ended'])
    expect(await list('passkey_challenges', 'challenge_hash')).toEqual(['open'])
  })

  test('removes cookies of browsers that have ended', async () => {
    const { now, put, list, sweep } = await openLab(open)
    const row = { secret_hash: 'x', former: '[]', used_at: 0 }
    await put('browser_sessions', [
      ...manyOf((index, tenant_id) => ({
        ...row,
        tenant_id,
        cookie_id: `x${index}`,
        sid: `x${index}`,
        expires_at: now,
      })),
      { ...row, tenant_id: 2, cookie_id: 'good', sid: 'good', expires_at: now + 1 },
    ])
    await sweep()
    expect(await list('browser_sessions', 'cookie_id')).toEqual(['good'])
  })

  test('forgets names that have rested', async () => {
    const { now, put, list, sweep } = await openLab(open)
    await put('quarantined_names', [
      ...manyOf((index) => ({ tenant_id: 0, name: `x${index}`, until: now })),
      { tenant_id: 0, name: 'rests', until: now + 1 },
    ])
    await sweep()
    expect(await list('quarantined_names', 'name')).toEqual(['rests'])
  })

  test('forgets events that nobody can ask for, numbered or not', async () => {
    const { now, put, list, sweep } = await openLab(open)
    const end = now - 7 * daySecs
    const event = { notice: '{}' }
    await put('bus_events', [
      ...manyOf((index, tenant_id) => ({ ...event, tenant_id, seq: index + 1, at: end - 1 })),
      ...manyOf((_, tenant_id) => ({ ...event, tenant_id, seq: null, at: end - daySecs - 1 })),
      { ...event, tenant_id: 2, seq: null, at: end - 1, notice: '"waits"' },
      { ...event, tenant_id: 2, seq: 5001, at: end, notice: '"numbered"' },
    ])
    await sweep()
    expect(await list('bus_events', 'notice')).toEqual(['"numbered"', '"waits"'])
  })

  test('forgets what people opened 180 days ago, and nothing that they marked', async () => {
    const { now, put, list, sweep } = await openLab(open)
    const end = now - 180 * daySecs
    const row = (item_id: string, more: Row = {}) => ({
      tenant_id: 2,
      id_tag: 'bob.example.com',
      collection: 'RCNT',
      item_id,
      added_at: end,
      ...more,
    })
    await put('collection_items', [
      ...manyOf((index, tenant_id) => row(`x${index}`, { tenant_id })),
      row('opened since', { added_at: end + 1 }),
      row('marked', { collection: 'FAVR' }),
    ])
    await sweep()
    expect(await list('collection_items', 'item_id')).toEqual(['marked', 'opened since'])
  })

  test('forgets relations that have ended: a request after a day, a former follower after a year', async () => {
    const { now, put, list, sweep } = await openLab(open)
    const row = (id_tag: string, more: Row = {}) => ({
      tenant_id: 2,
      id_tag,
      following: 0,
      follower: 0,
      connection: 'disconnected',
      blocked: 0,
      muted: 0,
      role: null,
      standing: null,
      reached: 0,
      updated_at: 1,
      ...more,
    })
    await put('relations', [
      ...manyOf((index, tenant_id) => row(`asked${index}`, { tenant_id, updated_at: now - daySecs })),
      ...manyOf((index, tenant_id) =>
        row(`former${index}`, { tenant_id, reached: 1, updated_at: now - 365 * daySecs }),
      ),
      row('1 ended today', { updated_at: now - daySecs + 1 }),
      row('2 followed this year', { reached: 1, updated_at: now - 365 * daySecs + 1 }),
      row('3 follows', { follower: 1, reached: 1 }),
      row('4 is followed', { following: 1 }),
      row('5 waits', { connection: 'asked' }),
      row('6 is blocked', { blocked: 1 }),
      row('7 is muted', { muted: 1 }),
      row('8 has a role', { role: 'contributor' }),
      row('9 is trusted', { standing: 'Trusted' }),
    ])
    await sweep()
    expect((await list('relations', 'id_tag')).map((idTag) => Number(String(idTag).charAt(0)))).toEqual([
      1, 2, 3, 4, 5, 6, 7, 8, 9,
    ])
  })

  const profile = { name: 'x', type: 'person', created_at: 0, updated_at: 0 }

  test('forgets profiles of other servers that nobody asks for, unless something holds with them', async () => {
    const { now, clock, put, list, sweep } = await openLab(open)
    const end = now - 30 * daySecs
    const row = (id_tag: string, more: Row = {}) => ({
      ...profile,
      tenant_id: 0,
      id_tag,
      refreshed_at: end,
      ...more,
    })
    await put('profiles', [
      ...manyOf((index) => row(`x${index}`)),
      row('1 was refreshed', { refreshed_at: end + 1 }),
      row('2 is followed'),
      row('3 was noted', { refreshed_at: null, updated_at: end + 1 }),
      row('4 lives here', { tenant_id: 2 }),
    ])
    await put('relations', [{ tenant_id: 3, id_tag: '2 is followed', following: 1, updated_at: 1 }])
    await sweep()
    const left = async () =>
      (await list('profiles', 'id_tag')).map((idTag) => String(idTag).charAt(0)).join('')
    expect(await left()).toBe('1234')
    clock.advance(7 * daySecs * 1000)
    await sweep()
    expect(await left()).toBe('24')
  })

  test('forgets profiles after a day where there are too many', async () => {
    const { now, put, list, sweep } = await openLab(open)
    const row = (id_tag: string, refreshed_at: number) => ({ ...profile, tenant_id: 0, id_tag, refreshed_at })
    await put('profiles', [
      ...manyOf((index) => row(`x${index}`, now - daySecs)),
      row('1 of today', now - daySecs + 1),
      row('2 is followed', 1),
    ])
    await put('relations', [{ tenant_id: 3, id_tag: '2 is followed', following: 1, updated_at: 1 }])
    await sweep({ maxRows: 5 })
    expect(await list('profiles', 'id_tag')).toEqual(['1 of today', '2 is followed'])
  })

  test('reads by index alone, whatever it looks for', async () => {
    const { db, clock } = await openLab(open.forPlans)
    const steps = await planStatements(db, async (recorded) => {
      const handlers: ((payload: object, context: never) => Promise<void>)[] = []
      const jobs = { handle: (_: unknown, handler: never) => handlers.push(handler), every: () => {} }
      const deps = { db: recorded, clock, jobs: jobs as never }
      addRowSweeps(deps)
      addBusSweep(deps)
      for (const handler of handlers) await handler({}, {} as never)
    })
    expect(steps.filter((step) => /Seq Scan|^SCAN|TEMP B-TREE|Sort/.test(step))).toEqual([])
    const used = steps.flatMap((step) => step.match(/(?<=INDEX |using |Index Scan on )\w+/g) ?? [])
    expect(used.filter((name) => !isKey.test(name))).toEqual([
      'audit_log_age',
      'visited_hosts_ended',
      'sessions_expired',
      'sessions_ended',
      'browser_sessions_ended',
      'visitor_logouts_ended',
      'refs_expired',
      'refs_used_up',
      'refs_used_up',
      'attempt_buckets_ended',
      'qr_sessions_ended',
      'passkey_challenges_ended',
      'quarantined_names_by_end',
      'relations_ended',
      'relations_ended',
      'profiles_look',
      'relations_by_identity',
      'collection_items_opened',
      'rtdb_changes_age',
      'rtdb_transactions_age',
      'rtdb_locks_expiry',
      'rtdb_databases_snapshot_due',
      'push_subscriptions_expired',
      'bus_events_age',
      'bus_events_age',
    ])
  })
})

const isKey = /_pkey$|^sqlite_autoindex/
