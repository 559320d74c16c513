import type { IdTag } from '@kith/protocol'
import { expect, test } from 'vitest'
import { readConfig } from '#infra/config/index.ts'
import type { DnsAnswer } from '#infra/dns/index.ts'
import { type EgressAnswer, EgressError } from '#infra/egress/index.ts'
import { examineAddress, examineTenantAddresses } from './examine-addresses.ts'

const idTag = 'alice.example.com' as IdTag
const url = `https://${idTag}`
const found: DnsAnswer = { kind: 'found', records: ['198.51.100.7'] }
const hsts = { 'strict-transport-security': 'max-age=31536000' }
const own = { idTag, publicKeys: ['our key'] }

const documentOf = (name: string, publicKey: string) =>
  JSON.stringify({ data: { idTag: name, keys: [{ publicKey }] } })
const answerOf = (status: number, text = '', headers: Record<string, string> = hsts): EgressAnswer => ({
  status,
  headers,
  body: Buffer.from(text),
})
const failure = (reason: EgressError['reason'], code: string) =>
  new EgressError(reason, `no answer: ${code}`, { cause: Object.assign(new Error(code), { code }) })

/** What is found where the DNS and the address answer like this. */
function depsOf(
  answer: EgressAnswer | EgressError,
  dns: DnsAnswer = found,
  env: Record<string, string> = {},
) {
  const asked: string[] = []
  const config = readConfig({ BASE_ID_TAG: 'example.com', PUBLIC_URL: 'https://{idTag}', ...env })
  const request = async (wanted: { readonly url: string }) => {
    asked.push(wanted.url)
    if (answer instanceof EgressError) throw answer
    return answer
  }
  const unused = async () => Promise.reject(new Error('unused'))
  const egress = { request, requestHead: unused, stream: unused, close: async () => {} }
  return { asked, config, dns: { resolveAddresses: async () => dns }, egress }
}

const good = answerOf(200, documentOf(idTag, 'our key'))

test('an address that leads here is well', async () => {
  const deps = depsOf(good)
  expect(await examineAddress(deps, url, own)).toEqual({ status: 'ok', message: `${url} leads here.` })
  expect(deps.asked).toEqual([`${url}/.well-known/service/id-tag`])
})

const badGateway = answerOf(502)
const another = answerOf(200, documentOf(idTag, 'another key'))
const otherHost = answerOf(200, documentOf('example.com', 'our key'))
const untrusted = answerOf(200, documentOf(idTag, 'our key'), {})
test.each([
  ['no record', depsOf(good, { kind: 'not-found' }), 'The DNS has no address for alice', 'record A'],
  [
    'no DNS',
    depsOf(good, { kind: 'unreachable', cause: Object.assign(new Error(), { code: 'ETIMEOUT' }) }),
    'does not answer for alice.example.com (ETIMEOUT)',
    'DNS_SERVERS',
  ],
  [
    'a record of another machine',
    depsOf(good, found, { LOCAL_ADDRESSES: '198.51.100.9' }),
    'leads to 198.51.100.7, and not to 198.51.100.9',
    'LOCAL_ADDRESSES',
  ],
  [
    'a private address',
    depsOf(new EgressError('refused', 'private use'), { kind: 'found', records: ['10.0.0.1'] }),
    'private use (10.0.0.1)',
    'ALLOW_PRIVATE_NETWORK',
  ],
  ['nothing there', depsOf(failure('connect', 'ECONNREFUSED')), '(198.51.100.7) (ECONNREFUSED)', 'firewall'],
  ['silence', depsOf(failure('timeout', 'ETIMEDOUT')), 'nothing answers', 'firewall'],
  [
    'a private authority',
    depsOf(failure('tls', 'SELF_SIGNED_CERT_IN_CHAIN')),
    'does not know the authority',
    'NODE_EXTRA_CA_CERTS',
  ],
  ['a certificate that ended', depsOf(failure('tls', 'CERT_HAS_EXPIRED')), 'CERT_HAS_EXPIRED', 'tls.md'],
  ['a proxy with nothing behind', depsOf(badGateway), 'answers 502', 'LISTEN, 127.0.0.1:8080'],
  ['another host', depsOf(answerOf(404)), 'does not take alice.example.com for', 'Host header'],
  [
    'a proxy that names another host',
    depsOf(otherHost),
    'does not take alice.example.com for',
    'Host header',
  ],
  ['another server', depsOf(another), 'Another server answers', 'PUBLIC_URL'],
  ['a page', depsOf(answerOf(200, '<html>')), 'Another server answers', 'PUBLIC_URL'],
  ['a proxy that is not trusted', depsOf(untrusted), 'X-Forwarded-*', 'TRUSTED_PROXIES'],
])('%s is told, with what to do about it', async (_, deps, message, advice) => {
  const verdict = await examineAddress(deps, url, own)
  expect(verdict.status).not.toBe('ok')
  expect(verdict.message).toContain(message)
  expect(verdict.advice).toContain(advice)
})

test('of many tenants some are looked at, and those that are wrong named together', async () => {
  const tenants = Array.from({ length: 30 }, (_, at) => ({
    idTag: `t${at}.example.com` as IdTag,
    publicKeys: ['our key'],
  }))
  const urlOf = (name: IdTag) => `https://${name}`
  const deps = depsOf(answerOf(502))
  const verdict = await examineTenantAddresses(deps, { tenants, urlOf })
  expect(deps.asked).toHaveLength(20)
  expect(verdict).toMatchObject({
    status: 'warning',
    message: expect.stringMatching(/t0\..*t4\..*And 15 more\.$/),
  })
  expect(verdict.advice?.match(/LISTEN/g)).toHaveLength(1)
})
