import { deleteManagedIdentity, putSetting, setIdentityAddress, updateManagedIdentity } from '@kith/protocol'
import { decode } from 'dns-packet'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { askTcp, askUdp, exchangeTcp, question, readSignature, signed } from '#harness/dns-client.ts'
import { mailbox, NameProvider } from '#harness/name-provider.ts'
import type { DnsServer } from '#infra/dns-server/index.ts'

const own = '198.51.100.1'
const apex = 'names.localhost'

let names: NameProvider
let dns: DnsServer
beforeAll(async () => {
  names = await NameProvider.start({
    DNS_LISTEN: '127.0.0.1:0',
    LOCAL_ADDRESSES: `${own},2001:db8::1,edge.example`,
  })
  const listening = names.server.running.dns
  if (!listening) throw new Error('nothing answers DNS')
  dns = listening
  // A name that is taken stays so: each test has its own.
  await names.registerActive('alice', { address: '198.51.100.7' })
  await names.registerActive('bob', { address: 'alice.names.localhost' })
  await names.registerActive('carol', { address: 'elsewhere.example' })
  await names.registerActive('deep.down', { address: '2001:db8::7' })
  await names.registerActive('nowhere')
  await names.register('waiting', { address: '198.51.100.8' })
  await names.server.createTenant('lives.here.names.localhost')
})
afterAll(() => names?.[Symbol.asyncDispose]())
// Questions of one network are counted.
beforeEach(() => names.server.clock.advance(10_000))

const setForServer = (name: string, value: unknown) => names.setForServer(name, value)

/** `TYPE data TTL` of each answer, after the code. */
async function ask(name: string, type: string): Promise<string[]> {
  const answer = await askUdp(dns, name, type)
  expect(answer.flag_aa).toBe(rcode(answer) !== 'REFUSED')
  return [rcode(answer), ...(answer.answers ?? []).map(told)]
}

function rcode(answer: object): string {
  return (answer as { rcode: string }).rcode
}

function told(record: object): string {
  const { type, ttl, data } = record as { type: string; ttl: number; data: unknown }
  const text = Array.isArray(data) ? Buffer.concat(data).toString() : data
  return `${type} ${typeof text === 'string' ? text : JSON.stringify(text)} ${ttl}`
}

async function serial(): Promise<number> {
  const { answers } = await askUdp(dns, apex, 'SOA')
  const [{ data } = { data: { serial: 0 } }] = (answers ?? []) as { data: { serial: number } }[]
  return data.serial
}

const ownA = `A ${own} 3600`

describe('the zone of a provider', () => {
  test.each<[string, string, string[]]>([
    ['alice.names.localhost', 'A', ['NOERROR', 'A 198.51.100.7 3600']],
    ['ALICE.names.localhost', 'A', ['NOERROR', 'A 198.51.100.7 3600']],
    ['alice.names.localhost', 'AAAA', ['NOERROR']],
    ['alice.names.localhost', 'MX', ['NOERROR']],
    [
      '_service.alice.names.localhost',
      'TXT',
      ['NOERROR', 'TXT v=1 server=https://alice.names.localhost 3600'],
    ],
    ['_service.alice.names.localhost', 'A', ['NOERROR']],
    ['_other.alice.names.localhost', 'TXT', ['NXDOMAIN']],
    ['below.alice.names.localhost', 'A', ['NXDOMAIN']],
    ['bob.names.localhost', 'A', ['NOERROR', 'CNAME alice.names.localhost 3600', 'A 198.51.100.7 3600']],
    ['bob.names.localhost', 'AAAA', ['NOERROR', 'CNAME alice.names.localhost 3600']],
    ['bob.names.localhost', 'CNAME', ['NOERROR', 'CNAME alice.names.localhost 3600']],
    ['carol.names.localhost', 'A', ['NOERROR', 'CNAME elsewhere.example 3600']],
    ['deep.down.names.localhost', 'AAAA', ['NOERROR', 'AAAA 2001:db8::7 3600']],
    ['down.names.localhost', 'A', ['NOERROR']],
    ['own.names.localhost', 'A', ['NXDOMAIN']],
    ['nowhere.names.localhost', 'A', ['NXDOMAIN']],
    ['_service.nowhere.names.localhost', 'TXT', ['NXDOMAIN']],
    ['waiting.names.localhost', 'A', ['NXDOMAIN']],
    ['_service.waiting.names.localhost', 'TXT', ['NXDOMAIN']],
    ['nobody.names.localhost', 'A', ['NXDOMAIN']],
    ['names.localhost', 'NS', ['NOERROR', 'NS ns1.names.localhost 3600']],
    ['names.localhost', 'A', ['NOERROR', ownA]],
    ['names.localhost', 'AAAA', ['NOERROR', 'AAAA 2001:db8::1 3600']],
    ['ns1.names.localhost', 'A', ['NOERROR', ownA]],
    // DNS is answered over IPv4 alone.
    ['ns1.names.localhost', 'AAAA', ['NOERROR']],
    ['lives.here.names.localhost', 'A', ['NOERROR', ownA]],
    ['here.names.localhost', 'A', ['NOERROR']],
    ['alice.localhost', 'A', ['REFUSED']],
    ['localhost', 'SOA', ['REFUSED']],
    ['.', 'NS', ['REFUSED']],
    ['elsewhere.example', 'A', ['REFUSED']],
  ])('answers %s %s', async (name, type, expected) => {
    expect(await ask(name, type)).toEqual(expected)
    const overTcp = await askTcp(dns, name, type)
    expect([rcode(overTcp), ...(overTcp.answers ?? []).map(told)]).toEqual(expected)
  })

  test('names the servers of tenants by their own address', async () => {
    for (const idTag of [apex, 'lives.here.names.localhost'])
      expect(await ask(`_service.${idTag}`, 'TXT')).toEqual([
        'NOERROR',
        `TXT v=1 server=${names.server.urlOf(idTag)} 3600`,
      ])
  })

  test('says how long nothing is to be remembered', async () => {
    const { authorities } = await askUdp(dns, 'nobody.names.localhost', 'A')
    expect(authorities).toEqual([
      expect.objectContaining({
        name: apex,
        ttl: 60,
        data: expect.objectContaining({
          mname: 'ns1.names.localhost',
          rname: 'hostmaster.names.localhost',
          minimum: 60,
        }),
      }),
    ])
  })

  test('follows an alias only so far', async () => {
    await names.registerActive('one', { address: 'two.names.localhost' })
    await names.registerActive('two', { address: 'one.names.localhost' })
    expect(await ask('one.names.localhost', 'A')).toEqual([
      'NOERROR',
      'CNAME two.names.localhost 3600',
      'CNAME one.names.localhost 3600',
    ])
  })
})

describe('a change is seen at once', () => {
  test('from the registration to the release, with a higher serial each time', async () => {
    const name = 'dora.names.localhost'
    const serials = [await serial()]
    const step = async (what: () => Promise<unknown>, expected: string[]) => {
      await what()
      expect(await ask(name, 'A')).toEqual(expected)
      serials.push(await serial())
    }
    const owner = await names.owner()
    const params = { id: name }
    expect(await ask(name, 'A')).toEqual(['NXDOMAIN'])
    await step(
      () => names.registerActive('dora', { address: '198.51.100.9' }),
      ['NOERROR', 'A 198.51.100.9 3600'],
    )
    const move = { address: '198.51.100.10' }
    await step(
      () => owner.call(setIdentityAddress, { params, body: move }),
      ['NOERROR', 'A 198.51.100.10 3600'],
    )
    const dynamic = { dyndns: true }
    await step(
      () => owner.call(updateManagedIdentity, { params, body: dynamic }),
      ['NOERROR', 'A 198.51.100.10 60'],
    )
    const rare = { dyndns: false }
    await step(
      () => owner.call(updateManagedIdentity, { params, body: rare }),
      ['NOERROR', 'A 198.51.100.10 3600'],
    )
    await owner.call(updateManagedIdentity, { params, body: dynamic })
    const before = await serial()
    await owner.call(updateManagedIdentity, { params, body: {} })
    expect(await serial()).toBe(before)
    const suspended = { status: 'suspended' } as const
    await step(() => owner.call(updateManagedIdentity, { params, body: suspended }), ['NXDOMAIN'])
    const resumed = { status: 'active' } as const
    await step(
      () => owner.call(updateManagedIdentity, { params, body: resumed }),
      ['NOERROR', 'A 198.51.100.10 60'],
    )
    await step(() => owner.call(deleteManagedIdentity, { params }), ['NXDOMAIN'])
    expect(serials).toEqual([...new Set(serials)].sort((a, b) => a - b))
  })

  test('of a name that has none above it', async () => {
    expect(await ask('new.names.localhost', 'A')).toEqual(['NXDOMAIN'])
    await names.registerActive('very.new', { address: '198.51.100.9' })
    expect(await ask('new.names.localhost', 'A')).toEqual(['NOERROR'])
  })

  test('of the tenants of this server', async () => {
    const before = await serial()
    expect(await ask('fresh.tenant.names.localhost', 'A')).toEqual(['NXDOMAIN'])
    await names.server.createTenant('fresh.tenant.names.localhost')
    expect(await ask('fresh.tenant.names.localhost', 'A')).toEqual(['NOERROR', ownA])
    expect(await ask('tenant.names.localhost', 'A')).toEqual(['NOERROR'])
    expect(await serial()).toBeGreaterThan(before)
  })

  test('of what a tenant of this server is, at the zone above it', async () => {
    const name = 'stays.names.localhost'
    await names.server.createTenant(name)
    const serials = [await serial()]
    await names.server.suspend(name)
    serials.push(await serial())
    await names.server.resume(name)
    serials.push(await serial())
    await names.server.suspend(name)
    serials.push(await serial())
    await names.purge(name)
    serials.push(await serial())
    expect(await ask(name, 'A')).toEqual(['NXDOMAIN'])
    expect(serials).toEqual([...new Set(serials)].sort((a, b) => a - b))
  })

  test('of the settings', async () => {
    const before = await serial()
    await setForServer('dns.name_servers', ['ns1.names.localhost 198.51.100.2', 'ns.secondary.example'])
    await setForServer('dns.hostmaster', 'dns@example.org')
    await setForServer('dns.caa', ['0 issue ca.example'])
    await names.set('idp.server_url', 'http://{idTag}:8080')
    expect(await ask(apex, 'NS')).toEqual([
      'NOERROR',
      'NS ns1.names.localhost 3600',
      'NS ns.secondary.example 3600',
    ])
    expect(await ask('ns1.names.localhost', 'A')).toEqual(['NOERROR', 'A 198.51.100.2 3600'])
    const [, caa] = await ask(apex, 'CAA')
    expect(caa).toContain('"tag":"issue","value":"ca.example"')
    const [, soa] = await ask(apex, 'SOA')
    expect(soa).toContain('"rname":"dns.example.org"')
    expect(await ask('_service.alice.names.localhost', 'TXT')).toEqual([
      'NOERROR',
      'TXT v=1 server=http://alice.names.localhost:8080 3600',
    ])
    expect(await serial()).toBeGreaterThan(before)
    await setForServer('dns.name_servers', [])
    await names.set('idp.server_url', 'https://{idTag}')
  })

  test('of name servers that are listed twice, or without addresses, or known by a name alone', async () => {
    await setForServer('dns.name_servers', [
      'ns1.names.localhost 198.51.100.2',
      'ns1.names.localhost 2001:db8::2',
      'ns2.names.localhost',
    ])
    expect(await ask(apex, 'NS')).toEqual([
      'NOERROR',
      'NS ns1.names.localhost 3600',
      'NS ns2.names.localhost 3600',
    ])
    expect(await ask('ns1.names.localhost', 'A')).toEqual(['NOERROR', 'A 198.51.100.2 3600'])
    expect(await ask('ns1.names.localhost', 'AAAA')).toEqual(['NOERROR', 'AAAA 2001:db8::2 3600'])
    expect(await ask('ns2.names.localhost', 'A')).toEqual(['NOERROR', ownA])
    await setForServer('dns.hostmaster', 'first.last@example.org')
    const [, soa] = await ask(apex, 'SOA')
    expect(soa).toContain('"mname":"ns1.names.localhost","rname":"first\\\\.last.example.org"')
    await setForServer('dns.hostmaster', 'dns@example.org')
    await setForServer('dns.name_servers', ['names.localhost 198.51.100.99'])
    expect(await ask(apex, 'A')).toEqual(['NOERROR', 'A 198.51.100.99 3600'])
    expect(await ask(apex, 'AAAA')).toEqual(['NOERROR'])
    await setForServer('dns.name_servers', [])
  })

  test.each<[string, unknown]>([
    ['dns.name_servers', ['ns1..localhost 198.51.100.2']],
    ['dns.name_servers', ['.']],
    ['dns.name_servers', ['ns1.names.localhost. 198.51.100.2']],
    ['dns.name_servers', [`${'a'.repeat(64)}.names.localhost`]],
    ['dns.name_servers', ['ns1.names.localhost 198.51.100.300']],
    ['dns.hostmaster', 'a@b..c'],
    ['dns.hostmaster', 'a@.'],
    ['dns.hostmaster', '.a@example.org'],
    ['dns.hostmaster', `${'a'.repeat(64)}@example.org`],
    ['dns.caa', ['0 issue "a']],
    ['dns.caa', ['issue 0 ca.example']],
    ['dns.transfer_networks', ['192.168/16']],
    ['dns.transfer_networks', ['010.0.0.0/8']],
    ['dns.transfer_networks', ['10.0.0.0/33']],
    ['dns.transfer_networks', ['2001:db8::/129']],
    ['dns.transfer_key', 'hmac-sha256:kith-transfer.:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA='],
    ['dns.notify', ['198.51.100.2:53']],
    ['dns.notify', ['198.51.100.2@0']],
  ])('never of %s to %j, which no zone can hold', async (name, value) => {
    await expect(setForServer(name, value)).rejects.toMatchObject({ code: 'E-VALIDATION' })
  })

  test('of the provider, whose names are refused while it gives none', async () => {
    await names.set('idp.enabled', false)
    expect(await ask('alice.names.localhost', 'A')).toEqual(['REFUSED'])
    expect(await ask(apex, 'SOA')).toEqual(['REFUSED'])
    await names.set('idp.enabled', true)
    expect(await ask('alice.names.localhost', 'A')).toEqual(['NOERROR', 'A 198.51.100.7 3600'])
  })
})

describe('a secondary', () => {
  const key = { name: 'transfer.example', secret: Buffer.alloc(32, 7) }
  const nowSecs = () => Math.floor(names.server.clock.now() / 1000)

  test('is given nothing unless its address is listed', async () => {
    const [answer = Buffer.alloc(4)] = await exchangeTcp(dns, question(apex, 'AXFR'))
    expect(answer.readUInt16BE(2) & 15).toBe(5)
  })

  test('is given the whole zone with the key that the settings hold', async () => {
    await setForServer('dns.transfer_networks', ['127.0.0.0/8'])
    await setForServer('dns.transfer_key', `hmac-sha256:${key.name}:${key.secret.toString('base64')}`)
    const [unsigned = Buffer.alloc(4)] = await exchangeTcp(dns, question(apex, 'AXFR'))
    expect(unsigned.readUInt16BE(2) & 15).toBe(5)
    const query = signed(question(apex, 'AXFR'), key, nowSecs())
    const [first = Buffer.alloc(12), ...more] = await exchangeTcp(dns, query)
    expect(more).toEqual([])
    expect(readSignature(first, { key, query })).toMatchObject({ error: 0, isRight: true })
    const all = (decode(first).answers ?? []).map((record) => `${record.name} ${told(record)}`)
    expect(all[0]).toBe(all.at(-1))
    expect(all).toEqual(
      expect.arrayContaining([
        `${apex} NS ns1.names.localhost 3600`,
        `ns1.names.localhost ${ownA}`,
        'alice.names.localhost A 198.51.100.7 3600',
        '_service.alice.names.localhost TXT v=1 server=https://alice.names.localhost 3600',
        'bob.names.localhost CNAME alice.names.localhost 3600',
        `lives.here.names.localhost ${ownA}`,
      ]),
    )
    const text = all.join('\n')
    expect(text).not.toContain('waiting')
    expect(text).not.toContain('nowhere')
    // Every name of the transfer is answered alike to those who ask for it.
    for (const record of (decode(first).answers ?? []).slice(1, -1))
      expect(await ask(record.name, record.type)).toContain(told(record))
  })

  test('is given what is answered, and nothing that is not, of names that several have', async () => {
    const long = [...'abc'].map((letter) => letter.repeat(63)).join('.')
    const longest = `${'d'.repeat(253 - long.length - apex.length - 2)}.${long}`
    await names.register(longest, { address: '198.51.100.7', email: mailbox('long') })
    await names.activate(await names.refIdFor(mailbox('long')))
    await names.server.createTenant('club.names.localhost', {
      appDomain: 'web.app.club.names.localhost' as never,
    })
    await names.registerActive('extra', { address: 'elsewhere.example' })
    await setForServer('dns.name_servers', ['extra.names.localhost 198.51.100.3', 'other.names.localhost'])
    await expect(names.register('other')).rejects.toMatchObject({ code: 'E-VALIDATION' })

    const query = signed(question(apex, 'AXFR'), key, nowSecs())
    const messages = await exchangeTcp(dns, query)
    const records = messages.flatMap((message) => decode(message).answers ?? []).slice(1, -1)
    const texts = records.map((record) => `${record.name} ${told(record)}`)
    expect(texts).toEqual([...new Set(texts)])
    expect(texts).toEqual(
      expect.arrayContaining([
        `${longest}.${apex} A 198.51.100.7 3600`,
        `web.app.club.names.localhost ${ownA}`,
        'extra.names.localhost A 198.51.100.3 3600',
        '_service.extra.names.localhost TXT v=1 server=https://extra.names.localhost 3600',
      ]),
    )
    expect(texts.filter((text) => text.startsWith('_service.dd'))).toEqual([])
    expect(await ask('app.club.names.localhost', 'A')).toEqual(['NOERROR'])
    for (const record of records) {
      names.server.clock.advance(1000)
      expect(await ask(record.name, record.type)).toContain(told(record))
      // And no more than these.
      const alike = texts.filter((text) => text.startsWith(`${record.name} ${record.type} `))
      expect(
        (await ask(record.name, record.type)).slice(1).filter((text) => text.startsWith(`${record.type} `)),
      ).toHaveLength(alike.length)
    }
    await setForServer('dns.name_servers', [])
  })

  test('is given the zone of a provider below another as a delegation', async () => {
    await names.server.createTenant('lives.sub.names.localhost')
    await names.server.createTenant('sub.names.localhost')
    const sub = await names.server.as('sub.names.localhost')
    await sub.call(putSetting, { params: { name: 'idp.enabled' }, body: { value: true } })
    const listSub = async () => {
      const query = signed(question(apex, 'AXFR'), key, nowSecs())
      const [answer = Buffer.alloc(12)] = await exchangeTcp(dns, query)
      const ofSub = (decode(answer).answers ?? []).filter(({ name }) => name.endsWith('sub.names.localhost'))
      return ofSub.map((record) => `${record.name} ${told(record)}`)
    }
    expect(await listSub()).toEqual([
      'sub.names.localhost NS ns1.sub.names.localhost 3600',
      `ns1.sub.names.localhost ${ownA}`,
    ])
    const { authorities } = await askUdp(dns, 'nobody.sub.names.localhost', 'A')
    expect(authorities).toEqual([expect.objectContaining({ name: 'sub.names.localhost' })])
    await setForServer('dns.name_servers', ['ns.sub.names.localhost 198.51.100.2'])
    expect(await listSub()).toEqual([
      'sub.names.localhost NS ns.sub.names.localhost 3600',
      'ns.sub.names.localhost A 198.51.100.2 3600',
    ])
    await setForServer('dns.name_servers', [])
  })
})

test('answers are counted', async () => {
  await ask('alice.names.localhost', 'A')
  const { text } = await names.server.running.services.metrics.scrape()
  expect(text).toMatch(/kith_dns_answers_total\{rcode="NOERROR",transport="udp"\} \d+/)
})
