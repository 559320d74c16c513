import type { IdTag } from '@kith/protocol'
import { expect, test } from 'vitest'
import { migrations } from '#app/migrations.ts'
import { openSettings } from '#features/settings/index.ts'
import { eachDialect } from '#harness/each-dialect.ts'
import { SignInWorld, signInLab } from '#harness/sign-in-lab.ts'
import { openLocalBus } from '#infra/bus/index.ts'
import { insertIdentity, updateIdentity } from '../managed-identity-store.ts'
import { openZones } from './open-zones.ts'

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

eachDialect('the zones of providers', (open) => {
  test('show a change at once where it is heard of, and within two seconds elsewhere', async () => {
    const world = new SignInWorld()
    const { clock } = world
    const db = await open({ migrations, clock })
    const { tenants, makeTenant, deps } = signInLab(db, world)
    const zone = await makeTenant('names.example')
    const process = (nodeBus = openLocalBus({ clock })) =>
      openZones({
        db,
        clock,
        nodeBus,
        tenants,
        settings: openSettings({ db, clock, vault: deps.vault }),
        isProvider: async () => true,
        ownAddresses: ['198.51.100.1'],
        discoveryNames: ['word', 'service'],
        serverUrlOf: (idTag) => `https://${idTag}`,
      })
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

  test('find the names between a zone and its tenants with one list for many questions', async () => {
    const world = new SignInWorld()
    const { clock } = world
    const db = await open({ migrations, clock })
    const { tenants, makeTenant, deps } = signInLab(db, world)
    await makeTenant('names.example')
    await makeTenant('lives.far.down.names.example')
    const zones = openZones({
      db,
      clock,
      nodeBus: openLocalBus({ clock }),
      tenants,
      settings: openSettings({ db, clock, vault: deps.vault }),
      isProvider: async ({ idTag }) => idTag === 'names.example',
      ownAddresses: [],
      discoveryNames: ['service'],
      serverUrlOf: () => undefined,
    })
    const names = ['far.down', 'down', 'other', 'lives.far.down', '_service.lives.far.down']
    const codes = names.map(async (label) => {
      const { rcode } = await zones.answer({ name: `${label}.names.example`, type: 'A' })
      return rcode
    })
    expect(await Promise.all(codes)).toEqual(['NOERROR', 'NOERROR', 'NXDOMAIN', 'NOERROR', 'NXDOMAIN'])
  })
})
