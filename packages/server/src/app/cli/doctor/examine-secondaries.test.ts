import { putSetting } from '@kith/protocol'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startDnsServer } from '#harness/dns-server.ts'
import { NameProvider } from '#harness/name-provider.ts'
import { examineSecondaries } from './examine-secondaries.ts'

let names: NameProvider
beforeAll(async () => {
  names = await NameProvider.start({ DNS_LISTEN: '127.0.0.1:0' })
})
afterAll(() => names?.[Symbol.asyncDispose]())

async function look() {
  const { config, db, vault, clock } = names.server.running.services
  return await Promise.all(examineSecondaries({ config, db, vault, clock }))
}

async function notify(...addresses: string[]) {
  const owner = await names.server.as(names.server.baseIdTag)
  const body = { value: addresses.map((address) => address.replace(':', '@')) }
  await owner.call(putSetting, { params: { name: 'dns.notify' }, body })
}

test('a server without secondaries is told what that means', async () => {
  expect(await look()).toMatchObject([{ status: 'ok', message: expect.stringContaining('There are none') }])
})

test('those that have another serial, or do not answer, are told', async () => {
  await using behind = await startDnsServer()
  await using ahead = await startDnsServer()
  const silent = await startDnsServer()
  await silent[Symbol.asyncDispose]()
  await notify(ahead.address, behind.address, silent.address)
  const { dns } = names.server.running
  behind.set(names.idTag, 'SOA', '7')
  // As of one that signs the zone and counts on by itself.
  ahead.set(names.idTag, 'SOA', '3000000000')
  const [finding] = await look()
  expect(finding).toMatchObject({ check: 'Secondaries', status: 'warning' })
  const faults = finding?.message.split(/(?<=\.) /)
  expect(faults).toEqual([
    expect.stringMatching(`^${behind.address} has serial 7 of ${names.idTag}, which is \\d{10} here\\.$`),
    `${silent.address} does not answer for ${names.idTag}.`,
  ])
  await notify(ahead.address, `127.0.0.1:${dns?.port}`)
  expect(await look()).toMatchObject([{ status: 'ok', message: `All 2 have ${names.idTag}.` }])
})

test('nothing is asked where no tenant gives names', async () => {
  await names.set('idp.enabled', false)
  expect(await look()).toMatchObject([{ status: 'ok', message: 'No tenant gives names.' }])
  await names.set('idp.enabled', true)
})
