import { putSetting } from '@kith/protocol'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CommandLine } from '#harness/command-line.ts'
import { askUdp } from '#harness/dns-client.ts'
import { NameProvider } from '#harness/name-provider.ts'

const addresses = '198.51.100.1,2001:db8::1'

let names: NameProvider
let line: CommandLine
beforeAll(async () => {
  names = await NameProvider.start({ DNS_LISTEN: '127.0.0.1:0', LOCAL_ADDRESSES: addresses })
  const { services, port } = names.server.running
  const empty = await CommandLine.open()
  line = empty.with({
    DATA_DIR: services.config.dataDir,
    LISTEN: `127.0.0.1:${port}`,
    LOCAL_ADDRESSES: addresses,
    DNS_LISTEN: '127.0.0.1:0',
  })
  await names.registerActive('alice', { address: '198.51.100.7' })
  await names.registerActive('carol', { address: 'elsewhere.example' })
  await names.register('waiting', { address: '198.51.100.8' })
  const admin = await names.server.as(names.server.baseIdTag)
  const caa = ['0 issue ca.example']
  await admin.call(putSetting, { params: { name: 'dns.caa' }, body: { value: caa } })
})
afterAll(async () => {
  await names?.[Symbol.asyncDispose]()
  await line?.[Symbol.asyncDispose]()
})

test('a zone is printed as a running server answers it', async () => {
  const { out, exitCode } = await line.run(['dns', 'zone', names.idTag])
  expect(exitCode).toBe(0)
  const [head, soa, ...rest] = out.trimEnd().split('\n')
  const serial = /^; names\.localhost, serial (\d+), \d+ records$/.exec(head ?? '')?.[1]
  expect(soa).toMatch(
    new RegExp(`^names\\.localhost\\. 60 IN SOA ns1\\.names\\.localhost\\. .* ${serial} 300 60 `),
  )
  expect(rest).toEqual(
    expect.arrayContaining([
      'names.localhost. 3600 IN NS ns1.names.localhost.',
      'names.localhost. 3600 IN CAA 0 issue "ca.example"',
      'names.localhost. 3600 IN AAAA 2001:db8::1',
      'ns1.names.localhost. 3600 IN A 198.51.100.1',
      'alice.names.localhost. 3600 IN A 198.51.100.7',
      'carol.names.localhost. 3600 IN CNAME elsewhere.example.',
    ]),
  )
  expect(out).not.toContain('waiting')

  const dns = names.server.running.dns!
  names.server.clock.advance(10_000)
  const { zones } = await line.json('dns', 'zone')
  expect(zones).toHaveLength(1)
  expect(zones[0]).toMatchObject({ zone: names.idTag, serial: Number(serial) })
  for (const { name, type, ttl } of zones[0].records) {
    const { answers = [] } = await askUdp(dns, name, type)
    expect(answers, `${name} ${type}`).toContainEqual(expect.objectContaining({ name, type, ttl }))
  }
  const { answers = [] } = await askUdp(dns, names.idTag, 'SOA')
  expect(answers[0]).toMatchObject({ data: { serial: Number(serial) } })
})

test('whoever gives no names has no zone', async () => {
  const { exitCode, err } = await line.run(['dns', 'zone', 'alice.localhost'])
  expect(exitCode).toBe(1)
  expect(err).toBe(
    'alice.localhost gives no names to others: kith settings set idp.enabled true --tenant alice.localhost\n',
  )
  expect((await line.run(['dns', 'zone', 'nobody.localhost'])).exitCode).toBe(1)
  expect((await line.run(['dns', 'zone', 'nobody'])).exitCode).toBe(2)
  await names.set('idp.enabled', false)
  expect(await line.run(['dns', 'zone'])).toEqual({ exitCode: 0, out: 'No tenant gives names.\n', err: '' })
  expect((await line.run(['settings', 'set', 'idp.enabled', 'true', '--tenant', names.idTag])).exitCode).toBe(
    0,
  )
  expect((await line.json('dns', 'zone', names.idTag)).zones).toHaveLength(1)
})
