import { afterAll, beforeAll, expect, test } from 'vitest'
import { startDnsServer, type TestDnsServer } from '#harness/dns-server.ts'
import { NameProvider } from '#harness/name-provider.ts'
import { createDnsResolver } from '#infra/dns/index.ts'
import { examineNames } from './examine-names.ts'

let names: NameProvider
let world: TestDnsServer
beforeAll(async () => {
  world = await startDnsServer()
  names = await NameProvider.start({ DNS_LISTEN: '127.0.0.1:0' })
})
afterAll(async () => {
  await names?.[Symbol.asyncDispose]()
  await world?.[Symbol.asyncDispose]()
})

async function look(...ports: readonly number[]) {
  const { config, db, vault, clock } = names.server.running.services
  const dnsListen = ports.map((port) => ({ host: '127.0.0.1', port }))
  const dns = createDnsResolver({ servers: [world.address], timeoutMs: 600 })
  const federation = { ...config.federation, dnsListen }
  return await Promise.all(examineNames({ config: { ...config, federation }, db, vault, clock, dns }))
}

test('nothing is said where no DNS is answered', async () => {
  expect(await look()).toEqual([])
})

test('the delegation of a provider leads here, or does not', async () => {
  const port = names.server.running.dns?.port ?? 0
  const [lost] = await look(port)
  expect(lost).toMatchObject({
    status: 'warning',
    message: expect.stringContaining('the DNS does not lead there'),
  })
  world.set(`_service.${names.idTag}`, 'TXT', `v=1 server=${names.server.urlOf(names.idTag)}`)
  const [found] = await look(port)
  expect(found).toMatchObject({ status: 'ok', message: expect.stringContaining(names.idTag) })
})

test('a port on which nobody answers is told', async () => {
  const silent = await startDnsServer()
  const port = Number(silent.address.split(':')[1])
  await silent[Symbol.asyncDispose]()
  const [finding] = await look(port)
  expect(finding).toMatchObject({ status: 'warning', message: expect.stringContaining('does not answer') })
})

test('of several ports the first is asked that is known before the start', async () => {
  const port = names.server.running.dns?.port ?? 0
  const [finding, ...more] = await look(0, port, 1)
  expect(finding?.message).toContain(`127.0.0.1:${port} answers`)
  expect(more).toEqual([])
})

test('localhost is asked where the system has it', async () => {
  await using local = await NameProvider.start({ DNS_LISTEN: 'localhost:0' })
  const { config, db, vault, clock } = local.server.running.services
  const dnsListen = [{ host: 'localhost', port: local.server.running.dns?.port ?? 0 }]
  const dns = createDnsResolver({ servers: [world.address], timeoutMs: 600 })
  const federation = { ...config.federation, dnsListen }
  const [finding] = await Promise.all(
    examineNames({ config: { ...config, federation }, db, vault, clock, dns }),
  )
  expect(finding?.message).toContain(`localhost:${dnsListen[0]?.port} answers for`)
})

test('a server without providers refuses everything', async () => {
  await names.set('idp.enabled', false)
  expect(await look(53)).toEqual([expect.objectContaining({ status: 'ok' })])
  await names.set('idp.enabled', true)
})
