import type { IdTag } from '@kith/protocol'
import { Discovery, serverItself } from '#features/federation/index.ts'
import { type Config, publicUrlOf, servedAddressOf } from '#infra/config/index.ts'
import type { DnsResolver } from '#infra/dns/index.ts'
import type { Egress } from '#infra/egress/index.ts'
import { pingRedis } from '#infra/http/index.ts'
import { MailError, verifyMailer } from '#infra/mail/index.ts'
import type { Clock } from '#lib/clock.ts'
import type { Secret } from '#lib/secret.ts'
import { reportOf } from '../failure-report.ts'
import { examineAddress, examineTenantAddresses, notHttps, type OwnIdentity } from './examine-addresses.ts'
import { examineBrowsers } from './examine-browsers.ts'
import { examinePorts, findHolder, type Holder } from './examine-ports.ts'
import { examine, type Finding, ok, problem, type Verdict, warning } from './finding.ts'

export interface NetworkDeps {
  readonly config: Config
  readonly clock: Clock
  readonly dns: DnsResolver
  readonly egress: Egress
  /** Of the base tenant: none before the first start, undefined where they cannot be read. */
  readonly publicKeys: readonly string[] | undefined
  /** Who lives here beside it. */
  readonly tenants: readonly OwnIdentity[]
  /** The mail server of the environment or the settings. */
  findSmtpUrl(): Promise<Secret | undefined>
}

/** Whether this server is reached, and reaches what it needs. */
export function examineNetwork(deps: NetworkDeps): Promise<Finding>[] {
  const { redisUrl, database } = deps.config
  const holder = findHolder(deps.config)
  return [
    ...examinePorts(deps.config, holder),
    examine('Browsers', () => examineBrowsers(deps.config)),
    examine('Public address', async () => examinePublicUrl(deps, await holder)),
    ...(deps.tenants.length > 0 && deps.config.publicUrl.servesEveryTenant
      ? [examine('Tenant addresses', async () => examineTenants(deps, await holder))]
      : []),
    examine('Discovery', async () => examineDiscovery(deps, await holder)),
    examine('Mail', () => examineMail(deps)),
    ...(redisUrl ? [examine('Redis', () => examineRedis(redisUrl))] : []),
    ...(!redisUrl && database.kind === 'postgres' ? [examine('Redis', async () => noRedis)] : []),
  ]
}

async function examinePublicUrl(deps: NetworkDeps, holder: Holder): Promise<Verdict> {
  const { baseIdTag, publicUrl } = deps.config
  const listen = servedAddressOf(deps.config)
  if (publicUrl.template.includes('{port}') && listen.port === 0)
    return ok('It changes with the port at each start.')
  const url = publicUrlOf(publicUrl, baseIdTag, listen.port)
  const wrong = notHttps(deps.config, url)
  if (wrong) return wrong
  if (holder === 'nobody') return ok(`Nothing answers at ${url} while the server is not running.`)
  return examineAddress(deps, url, { idTag: baseIdTag, publicKeys: deps.publicKeys })
}

async function examineTenants(deps: NetworkDeps, holder: Holder): Promise<Verdict> {
  const { publicUrl } = deps.config
  const { port } = servedAddressOf(deps.config)
  if (holder === 'nobody') return ok('Nothing answers while the server is not running.')
  const urlOf = (idTag: IdTag) => publicUrlOf(publicUrl, idTag, port)
  return examineTenantAddresses(deps, { tenants: deps.tenants, urlOf })
}

/** Asks as another server would that does not know the base identity yet. */
async function examineDiscovery(deps: NetworkDeps, holder: Holder): Promise<Verdict> {
  const { baseIdTag, publicUrl, federation } = deps.config
  const listen = servedAddressOf(deps.config)
  if (baseIdTag.endsWith('.localhost')) return ok(`${baseIdTag} is known on this machine alone.`)
  const found = await ask(deps, federation.identityHosts)
  if (found === 'ours') return ok(`Other servers find ${baseIdTag} here.`)
  const url = publicUrlOf(publicUrl, baseIdTag, listen.port)
  const record = `_${federation.discoveryName}.${baseIdTag} TXT "v=1 server=${url}"`
  if (found === 'foreign')
    return problem(`Other servers find ${baseIdTag} elsewhere.`, `Set the DNS record: ${record}`)
  if (holder === 'nobody') return ok('It cannot be found while the server is not running.')
  return warning(
    `Other servers may not find ${baseIdTag}.`,
    `Point the name to this server, or set the DNS record: ${record}`,
  )
}

/** Which server answers at the address of the base identity, found as other servers find it. */
async function ask(
  { config, clock, dns, egress, publicKeys }: NetworkDeps,
  identityHosts: Config['federation']['identityHosts'],
): Promise<'ours' | 'foreign' | 'nobody'> {
  const { discoveryName, allowPrivateNetwork } = config.federation
  const discovery = new Discovery({
    clock,
    dns,
    egress,
    discoveryName,
    identityHosts,
    allowPlainHttp: allowPrivateNetwork !== false,
    localhostUrl: (idTag) =>
      `${config.tls.kind === 'off' ? 'http' : 'https'}://${idTag}:${servedAddressOf(config).port}`,
  })
  const found = await discovery.discover({
    idTag: config.baseIdTag,
    known: undefined,
    asker: serverItself,
  })
  if (found.kind !== 'found') return 'nobody'
  const isOurs = !publicKeys || found.identity.keys.some(({ publicKey }) => publicKeys.includes(publicKey))
  return isOurs ? 'ours' : 'foreign'
}

async function examineMail({ config, clock, findSmtpUrl }: NetworkDeps): Promise<Verdict> {
  const smtpUrl = await findSmtpUrl()
  const { directory } = config.mail
  if (!smtpUrl)
    return config.baseIdTag.endsWith('.localhost')
      ? ok(`Mails are files in ${directory}.`)
      : warning(
          `Mails are only written to files in ${directory}, and not sent.`,
          'Set SMTP_URL, or the settings email.smtp.*',
        )
  const { host } = new URL(smtpUrl.reveal())
  try {
    await verifyMailer({ ...config.mail, smtpUrl, clock })
    return ok(`${host} takes mail.`)
  } catch (error) {
    if (!(error instanceof MailError)) throw error
    return problem(
      `${host} does not take mail (${error.stage}): ${error.message}`,
      'Check SMTP_URL, or the settings email.smtp.*',
    )
  }
}

const noRedis = ok(
  'None: one process needs none. Several processes on this database need REDIS_URL to tell each other of changes at once.',
)

async function examineRedis(redisUrl: Secret): Promise<Verdict> {
  const { host } = new URL(redisUrl.reveal())
  try {
    await pingRedis(redisUrl.reveal())
    return ok(`${host} answers.`)
  } catch (error) {
    return warning(
      `${host} does not answer: ${reportOf(error).message}`,
      'Check REDIS_URL. Until then each process has rate limits of its own, and learns late of changes by the others.',
    )
  }
}
