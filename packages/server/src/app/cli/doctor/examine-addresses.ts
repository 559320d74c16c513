import type { IdTag } from '@kith/protocol'
import ipaddr from 'ipaddr.js'
import type { Config } from '#infra/config/index.ts'
import type { DnsResolver } from '#infra/dns/index.ts'
import { type Egress, type EgressAnswer, EgressError } from '#infra/egress/index.ts'
import { errorCode } from '#lib/system-error.ts'
import { ok, problem, type Verdict, warning } from './finding.ts'

/** An identity of this server, with the keys that its address must show. */
export interface OwnIdentity {
  readonly idTag: IdTag
  /** Undefined where they cannot be read. */
  readonly publicKeys: readonly string[] | undefined
}

export interface AddressDeps {
  readonly config: Config
  readonly dns: Pick<DnsResolver, 'resolveAddresses'>
  readonly egress: Egress
}

// With the DNS a look takes ten seconds at most, and `tenantsAtOnce` of `mostTenants` are looked at together: half a minute in all.
const answerTimeoutMs = 5000
const mostTenants = 20
const tenantsAtOnce = 10
const mostNamed = 5

/** Asks the address of an identity as others do, and tells how far that came. */
export async function examineAddress(deps: AddressDeps, url: string, own: OwnIdentity): Promise<Verdict> {
  const { hostname: host } = new URL(url)
  const leads = await findAddresses(deps, host)
  if ('status' in leads) return leads
  try {
    const answer = await deps.egress.request({
      method: 'GET',
      url: `${url}/.well-known/service/id-tag`,
      timeoutMs: answerTimeoutMs,
    })
    return judge(deps, { url, host, own, answer })
  } catch (error) {
    if (!(error instanceof EgressError)) throw error
    return verdictOn(error, { url, host, addresses: leads.addresses })
  }
}

/** What is wrong with an address that others would not take. */
export function notHttps({ federation }: Pick<Config, 'federation'>, url: string): Verdict | undefined {
  if (!url.startsWith('http:') || federation.allowPrivateNetwork !== false) return undefined
  return problem(`${url} is not https.`, 'Other servers talk to https only: set PUBLIC_URL=https://{idTag}')
}

/** The addresses of the other tenants, in one finding. */
export async function examineTenantAddresses(
  deps: AddressDeps,
  { tenants, urlOf }: { readonly tenants: readonly OwnIdentity[]; urlOf(idTag: IdTag): string },
): Promise<Verdict> {
  const looked = tenants.slice(0, mostTenants)
  const verdicts: Verdict[] = []
  for (let from = 0; from < looked.length; from += tenantsAtOnce) {
    const group = looked.slice(from, from + tenantsAtOnce)
    verdicts.push(...(await Promise.all(group.map((own) => examineAddress(deps, urlOf(own.idTag), own)))))
  }
  const wrong = verdicts.filter(({ status }) => status !== 'ok')
  const count = `${looked.length}${tenants.length > looked.length ? ' of them' : ''}`
  if (wrong.length === 0) return ok(`Those of ${count} lead here.`)
  const shown = wrong.slice(0, mostNamed).map(({ message }) => message)
  const rest = wrong.length > mostNamed ? [`And ${wrong.length - mostNamed} more.`] : []
  return warning([...shown, ...rest].join(' '), [...new Set(wrong.map(({ advice }) => advice))].join(' '))
}

async function findAddresses(
  { config, dns }: AddressDeps,
  host: string,
): Promise<{ readonly addresses: readonly string[] } | Verdict> {
  // Names of this machine and addresses are in no DNS.
  if (host.endsWith('.localhost') || ipaddr.isValid(host.replace(/^\[|\]$/g, ''))) return { addresses: [] }
  const answer = await dns.resolveAddresses(host)
  const { localAddresses } = config.federation
  const target = localAddresses.length > 0 ? localAddresses.join(', ') : 'the address of this machine'
  if (answer.kind === 'not-found')
    return warning(`The DNS has no address for ${host}.`, `Set its record A (and AAAA) to ${target}.`)
  if (answer.kind === 'unreachable')
    return warning(
      `The DNS does not answer for ${host} (${errorCode(answer.cause) ?? 'no answer'}).`,
      'Check the name servers of this machine, or set DNS_SERVERS.',
    )
  const known = localAddresses.filter((address) => ipaddr.isValid(address))
  if (known.length > 0 && !answer.records.some((address) => known.includes(address)))
    return warning(
      `${host} leads to ${answer.records.join(', ')}, and not to ${known.join(', ')}.`,
      'Correct its record in the DNS, or LOCAL_ADDRESSES.',
    )
  return { addresses: answer.records }
}

interface Looked {
  readonly url: string
  readonly host: string
}

// What OpenSSL says where a chain ends at a certificate that it does not trust.
const unknownAuthority =
  /^(?:SELF_SIGNED_CERT_IN_CHAIN|DEPTH_ZERO_SELF_SIGNED_CERT|UNABLE_TO_GET_ISSUER_CERT(?:_LOCALLY)?|UNABLE_TO_VERIFY_LEAF_SIGNATURE)$/

function verdictOn(
  { reason, message, cause }: EgressError,
  { url, host, addresses }: Looked & { readonly addresses: readonly string[] },
): Verdict {
  const code = errorCode(cause) ?? reason
  const where = addresses.length > 0 ? ` (${addresses.join(', ')})` : ''
  const wrong = `${url} does not lead here, as far as can be seen from this machine:`
  switch (reason) {
    case 'refused':
      return warning(
        `${wrong} ${message}${where}.`,
        'Other servers refuse private addresses as well. Point the DNS to a public one; in a network of your own set ALLOW_PRIVATE_NETWORK.',
      )
    case 'tls':
      if (unknownAuthority.test(code))
        return warning(
          `${wrong} this machine does not know the authority of its certificate (${code}).`,
          'Where TLS_CERT or a proxy serves it, add the certificates between to its file. With an authority of your own name the file with its certificate in NODE_EXTRA_CA_CERTS, in the environment of every server and command that is to trust it (docs/operations/tls.md, A certificate of your own).',
        )
      return warning(
        `${wrong} its certificate is not accepted (${code}).`,
        `Have the proxy in front get a certificate for ${host}, or let the server do it (docs/operations/tls.md).`,
      )
    case 'connect':
    case 'timeout':
      return warning(
        `${wrong} nothing answers${where} (${code}).`,
        'Check PUBLIC_URL, and that the firewall and the router pass its port on to the proxy in front or to this server.',
      )
    default:
      return warning(`${wrong} ${message}.`, 'Check PUBLIC_URL and the DNS.')
  }
}

const notFound = 404
const badGateway = 502
const gatewayTimeout = 504

function judge(
  { config }: AddressDeps,
  { url, host, own, answer }: Looked & { readonly own: OwnIdentity; readonly answer: EgressAnswer },
): Verdict {
  const { status, headers } = answer
  const wrong = `${url} does not lead here:`
  if (status >= badGateway && status <= gatewayTimeout)
    return warning(
      `${wrong} the proxy in front answers ${status}.`,
      `Let it pass requests on to LISTEN, ${config.listen.host}:${config.listen.port}.`,
    )
  const shown = documentOf(answer)
  if (status === notFound || (shown && shown.idTag !== own.idTag))
    return warning(
      `${wrong} what answers does not take ${host} for ${own.idTag}.`,
      'The proxy in front must pass requests for this name on with their Host header; check PUBLIC_URL as well.',
    )
  const isOurs = !own.publicKeys || shown?.keys.some((key) => own.publicKeys?.includes(key))
  if (!shown || !isOurs)
    return problem(`Another server answers at ${url} for ${own.idTag}.`, 'Check PUBLIC_URL and the DNS.')
  // The server sends it wherever it takes a request for https.
  if (
    config.tls.kind === 'off' &&
    url.startsWith('https:') &&
    headers['strict-transport-security'] === undefined
  )
    return warning(
      `${url} leads here, but the headers X-Forwarded-* of the proxy in front do not count: every client has its address.`,
      'Set TRUSTED_PROXIES to the address from which the proxy connects, and have it send X-Forwarded-For, -Proto and -Host.',
    )
  return ok(`${url} leads here.`)
}

/** What an identity document says; undefined for anything else. */
function documentOf({ status, body }: EgressAnswer): { idTag: unknown; keys: string[] } | undefined {
  if (status !== 200) return undefined
  try {
    const { data } = JSON.parse(Buffer.from(body).toString())
    const keys: { publicKey?: unknown }[] = Array.isArray(data.keys) ? data.keys : []
    return { idTag: data.idTag, keys: keys.map(({ publicKey }) => String(publicKey)) }
  } catch {
    return undefined
  }
}
