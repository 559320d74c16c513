import type { IdTag } from '@kith/protocol'
import { expect, test } from 'vitest'
import { migrations } from '#app/migrations.ts'
import { eachDialect } from '#harness/each-dialect.ts'
import { openDatabase, serverTenant, type TenantId } from '#infra/db/index.ts'
import type { ManagedIdentity } from '../managed-identity.ts'
import { insertIdentity, updateIdentity } from '../managed-identity-store.ts'
import {
  findResolved,
  findSerial,
  hasNamesBelow,
  listResolved,
  raiseOldSerials,
  raiseSerial,
} from './zone-store.ts'

const zone = 7 as TenantId
const other = 8 as TenantId
const now = 1_800_000_000

const identity = (name: string, more: Partial<ManagedIdentity> = {}): ManagedIdentity => ({
  idTag: name as IdTag,
  registrarTag: 'registrar.example' as IdTag,
  status: 'active',
  isDynamic: false,
  createdAt: now,
  updatedAt: now,
  // Until the sweep has released it.
  expiresAt: now - 1,
  address: '192.0.2.1',
  ...more,
})

eachDialect('the names of a zone', (open) => {
  test('are found while they are active, also after their time, each in its zone', async () => {
    const db = await open({ migrations })
    const reader = db.reader(zone)
    const pending = identity('p.names.example', { status: 'pending' })
    const nowhere = 'x.n.names.example' as IdTag
    await db.transact(zone, async (tx) => {
      await insertIdentity(tx, identity('a.names.example', { isDynamic: true }))
      await insertIdentity(tx, identity('x.b.names.example'))
      await insertIdentity(tx, pending)
      const { address: _, ...without } = identity(nowhere)
      await insertIdentity(tx, without)
      await insertIdentity(tx.as(other), identity('o.names.example'))
    })
    expect(await findResolved(reader, 'a.names.example' as IdTag)).toEqual({
      idTag: 'a.names.example',
      address: '192.0.2.1',
      isDynamic: true,
    })
    for (const idTag of [pending.idTag, nowhere]) expect(await findResolved(reader, idTag)).toBeUndefined()
    expect(await findResolved(reader, 'o.names.example' as IdTag)).toBeUndefined()
    const first = await listResolved(reader, { after: undefined, limit: 1 })
    const rest = await listResolved(reader, { after: first[0]?.idTag, limit: 5 })
    expect([...first, ...rest].map(({ idTag }) => idTag)).toEqual(['a.names.example', 'x.b.names.example'])
    const below = async (name: string) => await hasNamesBelow(reader, name)
    expect(await below('b.names.example')).toBe(true)
    expect(await below('a.names.example')).toBe(false)
    expect(await below('x.b.names.example')).toBe(false)
    expect(await below('o.names.example')).toBe(false)
    expect(await below('n.names.example')).toBe(false)
    expect(await below('.names.example')).toBe(false)
    await db.transact(zone, (tx) =>
      updateIdentity(tx, identity('x.b.names.example', { status: 'suspended' })),
    )
    expect(await below('b.names.example')).toBe(false)
  })

  test('have a serial that rises with each change, and with those of the server', async () => {
    const db = await open({ migrations })
    const serials = async () => [await findSerial(db.reader(zone)), await findSerial(db.reader(other))]
    const raise = (tenantId: TenantId, at: number) => db.transact(tenantId, (tx) => raiseSerial(tx, at))
    expect(await serials()).toEqual([1, 1])
    await raise(zone, now)
    expect(await serials()).toEqual([now + 1, 1])
    await raise(zone, now)
    expect(await serials()).toEqual([now + 2, 1])
    await raise(serverTenant, now)
    expect(await serials()).toEqual([now + 3, 2])
    await raise(serverTenant, now)
    expect(await serials()).toEqual([now + 4, 3])
    await raise(zone, now + 100)
    expect(await serials()).toEqual([now + 101, 3])
    await db.transact(serverTenant, (tx) => raiseOldSerials(tx, now + 200))
    expect(await serials()).toEqual([now + 201, 3])
    await db.transact(serverTenant, (tx) => raiseOldSerials(tx, now + 150))
    expect(await serials()).toEqual([now + 201, 3])
  })

  test('that were given by an older version are found as well', async () => {
    const place = await open.place()
    const older = migrations.slice(
      0,
      migrations.findIndex(({ id }) => id === '0029_zones'),
    )
    const before = await openDatabase({ url: place.url, migrations: older })
    const row = {
      id_tag: 'x.b.names.example',
      label: 'x',
      registrar_tag: 'registrar.example',
      status: 'active',
      address: '192.0.2.1',
      ...{ tenant_id: zone, created_at: now, updated_at: now, expires_at: now },
    }
    await before.transact(zone, async (tx) => {
      await tx
        .tables<{ managed_identities: typeof row }>()
        .insertInto('managed_identities')
        .values(row)
        .execute()
    })
    await before.close()
    const db = await openDatabase({ url: place.url, migrations })
    expect(await hasNamesBelow(db.reader(zone), 'b.names.example')).toBe(true)
    await db.close()
  })
})
