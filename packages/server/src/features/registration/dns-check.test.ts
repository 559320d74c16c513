import type { IdTag } from '@kith/protocol'
import { expect, test } from 'vitest'
import { idTag } from '#harness/http-site.ts'
import type { DnsAnswer } from '#infra/dns/index.ts'
import { whereDnsLeads } from './dns-check.ts'

type Kind = 'TXT' | 'CNAME' | 'ADDRESS'
type Zone = Readonly<Partial<Record<`${Kind} ${string}`, readonly string[] | 'silent'>>>

const alice = idTag('alice.example')
const ours = 'v=1 server=https://alice.example'

/** Asks a DNS that knows these records and nothing else; answers the verdict and what was asked. */
async function lead(
  zone: Zone,
  localAddresses: readonly string[] = ['198.51.100.7', '2001:db8::7'],
  identityHosts: ReadonlyMap<IdTag, string> = new Map(),
) {
  const asked: string[] = []
  const answer = async (kind: Kind, name: string): Promise<DnsAnswer> => {
    asked.push(`${kind} ${name}`)
    const records = zone[`${kind} ${name}`]
    if (records === 'silent') return { kind: 'unreachable', cause: undefined }
    return records ? { kind: 'found', records } : { kind: 'not-found' }
  }
  const verdict = await whereDnsLeads(
    {
      dns: {
        resolveTxt: (name) => answer('TXT', name),
        resolveCname: (name) => answer('CNAME', name),
        resolveAddresses: (name) => answer('ADDRESS', name),
      },
      discoveryName: 'service',
      identityHosts,
      localAddresses,
      allowPlainHttp: false,
      serverUrls: (name) => [`https://${name}`, 'https://kith.example'],
    },
    alice,
  )
  return { verdict, asked }
}

test.each<[string, Zone]>([
  ['a record that names its own host', { 'TXT _service.alice.example': [ours] }],
  [
    'a record that names the base tenant’s host',
    { 'TXT _service.alice.example': ['v=1;server=https://KITH.example/'] },
  ],
  ['a record among others', { 'TXT _service.alice.example': ['v=spf1 -all', ours] }],
  ['an address', { 'ADDRESS alice.example': ['203.0.113.1', '198.51.100.7'] }],
  ['an IPv6 address in any spelling', { 'ADDRESS alice.example': ['2001:DB8:0:0::7'] }],
])('%s leads here', async (_, zone) => {
  expect((await lead(zone)).verdict).toBe('here')
})

test.each<[string, Zone]>([
  ['nothing', {}],
  ['another address', { 'ADDRESS alice.example': ['203.0.113.1'] }],
  [
    'a record that names another server',
    { 'TXT _service.alice.example': ['v=1 server=https://other.example'] },
  ],
  [
    'a record that names another server, whatever the address',
    {
      'TXT _service.alice.example': ['v=1 server=https://other.example'],
      'ADDRESS alice.example': ['198.51.100.7'],
    },
  ],
  ['two servers', { 'TXT _service.alice.example': [ours, 'v=1 server=https://other.example'] }],
  ['a record of a parent', { 'TXT _service.example': [ours] }],
  ['a server without TLS', { 'TXT _service.alice.example': ['v=1 server=http://alice.example'] }],
])('%s leads elsewhere', async (_, zone) => {
  expect((await lead(zone)).verdict).toBe('elsewhere')
})

test('the server may have names as well as addresses', async () => {
  const names = ['edge.kith.example']
  expect((await lead({ 'CNAME alice.example': ['Edge.kith.example.'] }, names)).verdict).toBe('here')
  const same = { 'ADDRESS alice.example': ['198.51.100.9'], 'ADDRESS edge.kith.example': ['198.51.100.9'] }
  expect((await lead(same, names)).verdict).toBe('here')
  const other = { 'ADDRESS alice.example': ['198.51.100.9'], 'ADDRESS edge.kith.example': ['198.51.100.8'] }
  expect((await lead(other, names)).verdict).toBe('elsewhere')
})

test('without addresses of its own the server knows its records alone', async () => {
  const { verdict, asked } = await lead({ 'ADDRESS alice.example': ['198.51.100.7'] }, [])
  expect(verdict).toBe('elsewhere')
  expect(asked).toEqual(['TXT _service.alice.example'])
})

test.each<[Zone]>([
  [{ 'TXT _service.alice.example': 'silent', 'ADDRESS alice.example': ['198.51.100.7'] }],
  [{ 'ADDRESS alice.example': 'silent' }],
])('a DNS that does not answer says nothing', async (zone) => {
  expect((await lead(zone)).verdict).toBe('unknown')
})

test('the list of the operator is believed before the DNS', async () => {
  const zone = { 'TXT _service.alice.example': [ours] }
  const listedAt = async (server: string) => lead(zone, [], new Map([[alice, server]]))
  expect(await listedAt('https://other.example')).toEqual({ verdict: 'elsewhere', asked: [] })
  expect(await listedAt('https://kith.example')).toEqual({ verdict: 'here', asked: [] })
})
