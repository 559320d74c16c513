import type { IdTag } from '@kith/protocol'
import { expect, test } from 'vitest'
import { migrations } from '#app/migrations.ts'
import { openSettings, putOwnSetting } from '#features/settings/index.ts'
import { eachDialect } from '#harness/each-dialect.ts'
import { SignInWorld, signInLab } from '#harness/sign-in-lab.ts'
import { openLocalBus } from '#infra/bus/index.ts'
import type { Tenant } from '#infra/caller/index.ts'
import { serverTenant } from '#infra/db/index.ts'
import { insertIdentity, updateIdentity } from '../managed-identity-store.ts'
import { openZones } from './open-zones.ts'
import { findSerial } from './zone-store.ts'

const alice = {
  idTag: 'alice.names.example' as IdTag,
  registrarTag: 'registrar.example' as IdTag,
  status: 'active',
  isDynamic: false,
  createdAt: 1,
  updatedAt: 1,
  expiresAt: 1,
  address: '192.0.2.1',
} as const

type ServerUrlOf = (idTag: IdTag) => string | undefined

eachDialect('the zones of providers', (open) => {
  async function openWorld() {
    const world = new SignInWorld()
    const { clock } = world
    const db = await open({ migrations, clock })
    const { tenants, makeTenant, deps } = signInLab(db, world)
    const { vault } = deps
    const zone = await makeTenant('names.example')
    const process = (
      nodeBus = openLocalBus({ clock }),
      serverUrlOf: ServerUrlOf = (idTag) => `https://${idTag}`,
      ownAddresses: readonly string[] = ['198.51.100.1'],
    ) => {
      const settings = openSettings({ db, clock, vault })
      return openZones({
        db,
        clock,
        nodeBus,
        tenants,
        settings,
        isProvider: async ({ idTag }) => idTag === zone.idTag,
        ownAddresses,
        nameServerAddresses: ownAddresses,
        discoveryNames: ['word', 'service'],
        serverUrlOf,
      })
    }
    const provide = ({ tenantId }: Tenant) =>
      db.transact(tenantId, (tx) => {
        const settings = openSettings({ db, clock, vault })
        return putOwnSetting({ db, clock, vault, settings }, tx, { name: 'idp.enabled', value: true })
      })
    const serialOf = async (zones: ReturnType<typeof process>) => {
      const { answers: [soa] = [] } = await zones.answer({ name: zone.idTag, type: 'SOA' })
      return soa?.type === 'SOA' ? soa.data.serial : 0
    }
    return { clock, db, vault, zone, makeTenant, process, provide, serialOf }
  }

  test('show a change at once where it is heard of, and within two seconds elsewhere', async () => {
    const { clock, db, zone, process } = await openWorld()
    const shared = openLocalBus({ clock })
    const [here, hearing, there] = [process(shared), process(shared), process()]
    const told = async (zones: typeof here, name: string, type: 'A' | 'TXT' = 'A') => {
      const { rcode, answers = [] } = await zones.answer({ name, type })
      return [rcode, ...answers.map(({ data }) => data)]
    }
    for (const zones of [here, hearing, there]) expect(await told(zones, alice.idTag)).toEqual(['NXDOMAIN'])

    await db.transact(zone.tenantId, async (tx) => {
      await insertIdentity(tx, alice)
      await here.noteChange(tx, alice.idTag)
    })
    for (const zones of [here, hearing])
      expect(await told(zones, alice.idTag)).toEqual(['NOERROR', '192.0.2.1'])
    for (const word of ['word', 'service'])
      expect(await told(here, `_${word}.${alice.idTag}`, 'TXT')).toEqual([
        'NOERROR',
        'v=1 server=https://alice.names.example',
      ])
    expect(await told(there, alice.idTag)).toEqual(['NXDOMAIN'])
    clock.advance(2_001)
    expect(await told(there, alice.idTag)).toEqual(['NOERROR', '192.0.2.1'])

    const moving = db.transact(zone.tenantId, async (tx) => {
      await updateIdentity(tx, { ...alice, address: '192.0.2.2' })
      await here.noteChange(tx, alice.idTag)
      throw new Error('undone')
    })
    await expect(moving).rejects.toThrow('undone')
    expect(await told(here, alice.idTag)).toEqual(['NOERROR', '192.0.2.1'])
  })

  test('are transferred with all that their serial stands for, whatever the process remembers', async () => {
    const { clock, db, vault, zone, process } = await openWorld()
    const [here, there] = [process(), process()]
    const transfer = async () => {
      const opened = await there.openTransfer(zone.idTag)
      const records = opened && (await Array.fromAsync(opened.records)).flat()
      const serial = opened?.soa.type === 'SOA' ? opened.soa.data.serial : 0
      return { serial, servers: records?.flatMap((record) => (record.type === 'NS' ? [record.data] : [])) }
    }
    const before = await transfer()
    await db.transact(serverTenant, async (tx) => {
      const settings = openSettings({ db, clock, vault })
      const change = { name: 'dns.name_servers', value: ['ns.new.example'] } as const
      await putOwnSetting({ db, clock, vault, settings }, tx, change)
      await here.noteSetting(tx, { name: change.name, isForAll: true })
    })
    expect(await transfer()).toEqual({ serial: before.serial + 1, servers: ['ns.new.example'] })
  })

  test('have a higher serial after each start, and after an older database was put in place', async () => {
    const { clock, db, zone, process, serialOf } = await openWorld()
    await db.transact(zone.tenantId, (tx) => process().noteChange(tx, alice.idTag))
    const serials = [await serialOf(process())]
    for (let start = 0; start < 2; start += 1) {
      clock.advance(1_000)
      await process().noteStart()
      serials.push(await serialOf(process()))
    }
    const [first = 0, second = 0, third = 0] = serials
    expect(second).toBeGreaterThan(first)
    expect(third).toBeGreaterThan(second)
    const nowSecs = Math.floor(clock.now() / 1000)
    expect(third).toBeGreaterThan(nowSecs)
  })

  test('that have changed are listed, by whichever process, and all of them at first', async () => {
    const { db, zone, makeTenant, process, provide } = await openWorld()
    const other = await makeTenant('other.example')
    const [here, there] = [process(), process()]
    for (const tenant of [zone, other]) await provide(tenant)
    const changes = there.watchChanges()
    expect(await changes()).toEqual([zone.idTag, other.idTag])
    expect(await changes()).toEqual([])
    await db.transact(other.tenantId, (tx) => here.noteChange(tx, 'a.other.example' as IdTag))
    expect(await changes()).toEqual([other.idTag])
    await db.transact(serverTenant, (tx) => here.noteSetting(tx, { name: 'dns.caa', isForAll: true }))
    expect(await changes()).toEqual([zone.idTag, other.idTag])
    await db.transact(serverTenant, (tx) => here.noteHosted(tx, 'alice.names.example' as IdTag))
    expect(await changes()).toEqual([zone.idTag])
    await db.transact(serverTenant, (tx) => here.noteSetting(tx, { name: 'theme', isForAll: true }))
    expect(await changes()).toEqual([])
  })

  test('change with a setting of their provider, and those above them with it, and no others', async () => {
    const { db, zone, makeTenant, process, provide } = await openWorld()
    const [other, below] = [await makeTenant('other.example'), await makeTenant('sub.names.example')]
    for (const tenant of [zone, other, below]) await provide(tenant)
    const here = process()
    const changes = here.watchChanges()
    expect(await changes()).toHaveLength(3)
    for (const name of ['idp.enabled', 'idp.server_url']) {
      await db.transact(below.tenantId, (tx) => here.noteSetting(tx, { name, isForAll: false }))
      expect(await changes()).toEqual([zone.idTag, below.idTag])
      await db.transact(below.tenantId, (tx) => here.noteSetting(tx, { name, isForAll: true }))
      expect(await changes()).toEqual([zone.idTag, other.idTag, below.idTag])
    }
    await db.transact(serverTenant, (tx) => here.noteHosted(tx, below.idTag))
    expect(await changes()).toEqual([zone.idTag, below.idTag])
    const person = await makeTenant('person.names.example')
    await db.transact(serverTenant, (tx) => here.noteHosted(tx, person.idTag))
    expect(await changes()).toEqual([zone.idTag])
  })

  test('have the time as their serial after a restore, however often settings have changed', async () => {
    const { clock, db, zone, process, provide, serialOf } = await openWorld()
    await provide(zone)
    for (let change = 0; change < 100; change += 1) {
      clock.advance(2_000)
      await db.transact(serverTenant, (tx) => process().noteSetting(tx, { name: 'dns.caa', isForAll: true }))
    }
    const nowSecs = () => Math.floor(clock.now() / 1000)
    await process().noteStart()
    expect(await serialOf(process())).toBe(nowSecs() + 2)
    clock.advance(10_000)
    await db.transact(zone.tenantId, (tx) => process().noteChange(tx, alice.idTag))
    expect(await serialOf(process())).toBe(nowSecs() + 1)
  })

  test('show names above a tenant that another process has added, within two seconds', async () => {
    const { clock, makeTenant, process } = await openWorld()
    const zones = process()
    const codeOf = async () => (await zones.answer({ name: 'mid.names.example', type: 'A' })).rcode
    expect(await codeOf()).toBe('NXDOMAIN')
    await makeTenant('low.mid.names.example')
    clock.advance(2_001)
    expect(await codeOf()).toBe('NOERROR')
  })

  test('begin with the time as their serial, not with a count of changes', async () => {
    const { clock, db, zone, makeTenant, process, provide, serialOf } = await openWorld()
    const other = await makeTenant('other.example')
    for (const tenant of [zone, other]) await provide(tenant)
    expect(await serialOf(process())).toBe(1)
    await process().noteStart()
    const nowSecs = Math.floor(clock.now() / 1000)
    expect(await serialOf(process())).toBeGreaterThan(nowSecs)
    const resumed = await makeTenant('resumed.example')
    await provide(resumed)
    await db.transact(resumed.tenantId, (tx) => process().noteHosted(tx, resumed.idTag))
    expect(await findSerial(db.reader(resumed.tenantId))).toBeGreaterThan(nowSecs)
  })

  test('say of what has no records that it does not exist, as a secondary does', async () => {
    const { clock, db, vault, zone, makeTenant, process } = await openWorld()
    await makeTenant('low.mid.names.example')
    const settings = openSettings({ db, clock, vault })
    await db.transact(serverTenant, (tx) =>
      putOwnSetting({ db, clock, vault, settings }, tx, {
        name: 'dns.name_servers',
        value: ['ns.deep.names.example'],
      }),
    )
    const zones = process(undefined, () => undefined, [])
    const opened = await zones.openTransfer(zone.idTag)
    const records = opened && (await Array.fromAsync(opened.records)).flat()
    expect(new Set(records?.map(({ name }) => name))).toEqual(new Set([zone.idTag]))
    for (const label of ['mid', 'low.mid', 'deep', 'ns.deep']) {
      const { rcode } = await zones.answer({ name: `${label}.names.example`, type: 'A' })
      expect([label, rcode]).toEqual([label, 'NXDOMAIN'])
    }
    const found = process()
    for (const label of ['mid', 'low.mid', 'deep', 'ns.deep']) {
      const { rcode } = await found.answer({ name: `${label}.names.example`, type: 'A' })
      expect([label, rcode]).toEqual([label, 'NOERROR'])
    }
  })

  test('find the names between a zone and its tenants with one list for many questions', async () => {
    const { makeTenant, process } = await openWorld()
    await makeTenant('lives.far.down.names.example')
    const zones = process(undefined, () => undefined)
    const names = ['far.down', 'down', 'other', 'lives.far.down', '_service.lives.far.down']
    const codes = names.map(async (label) => {
      const { rcode } = await zones.answer({ name: `${label}.names.example`, type: 'A' })
      return rcode
    })
    expect(await Promise.all(codes)).toEqual(['NOERROR', 'NOERROR', 'NXDOMAIN', 'NOERROR', 'NXDOMAIN'])
  })
})
