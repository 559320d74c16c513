import { once } from 'node:events'
import { createServer } from 'node:net'
import { Discovery, serverItself } from '#features/federation/index.ts'
import { type Config, type ListenAddress, publicUrlOf } from '#infra/config/index.ts'
import type { DnsResolver } from '#infra/dns/index.ts'
import type { Egress } from '#infra/egress/index.ts'
import { pingRedis } from '#infra/http/index.ts'
import { MailError, verifyMailer } from '#infra/mail/index.ts'
import type { Clock } from '#lib/clock.ts'
import type { Secret } from '#lib/secret.ts'
import { errorCode } from '#lib/system-error.ts'
import { reportOf } from '../failure-report.ts'
import { examine, type Finding, ok, problem, type Verdict, warning } from './finding.ts'

export interface NetworkDeps {
  readonly config: Config
  readonly clock: Clock
  readonly dns: DnsResolver
  readonly egress: Egress
  /** Of the base tenant: none before the first start, undefined where they cannot be read. */
  readonly publicKeys: readonly string[] | undefined
  /** The mail server of the environment or the settings. */
  findSmtpUrl(): Promise<Secret | undefined>
}

const healthTimeoutMs = 3000

/** Whether this server is reached, and reaches what it needs. */
export function examineNetwork(deps: NetworkDeps): Promise<Finding>[] {
  const { listen, redisUrl, database } = deps.config
  const holder = findHolder(listen)
  return [
    examine('Listening', async () => examinePort(listen, await holder)),
    examine('Public address', async () => examinePublicUrl(deps, await holder)),
    examine('Discovery', async () => examineDiscovery(deps, await holder)),
    examine('Mail', () => examineMail(deps)),
    ...(redisUrl ? [examine('Redis', () => examineRedis(redisUrl))] : []),
    ...(!redisUrl && database.kind === 'postgres' ? [examine('Redis', async () => noRedis)] : []),
  ]
}

/** What listens on the port; or the code of the error for which nothing can. */
type Holder = 'nobody' | 'a server' | 'another program' | { readonly code: string | undefined }

async function findHolder({ host, port }: ListenAddress): Promise<Holder> {
  const found = port === 0 ? 'free' : await tryToListen(host, port)
  if (found === 'free') return 'nobody'
  if (found.code !== 'EADDRINUSE') return found
  return (await answersHealthz(host, port)) ? 'a server' : 'another program'
}

async function tryToListen(
  host: string,
  port: number,
): Promise<'free' | { readonly code: string | undefined }> {
  const server = createServer()
  try {
    server.listen(port, host)
    await once(server, 'listening')
    return 'free'
  } catch (error) {
    return { code: errorCode(error) }
  } finally {
    server.close()
  }
}

/** Not with the egress client, which is not allowed to call this machine. */
async function answersHealthz(host: string, port: number): Promise<boolean> {
  const everywhere: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '[::1]' }
  const name = everywhere[host] ?? (host.includes(':') ? `[${host}]` : host)
  const signal = AbortSignal.timeout(healthTimeoutMs)
  const answer = await fetch(`http://${name}:${port}/healthz`, { signal }).catch(() => undefined)
  return answer?.status === 200
}

function examinePort({ host, port }: ListenAddress, holder: Holder): Verdict {
  const shown = `${host}:${port}`
  if (port === 0) return ok('Each start picks a free port.')
  if (holder === 'a server') return ok(`A server answers on ${shown}.`)
  if (holder === 'nobody')
    return warning(`Nothing listens on ${shown}: the server is not running.`, 'kith serve')
  if (holder === 'another program')
    return problem(`Another program has ${shown}.`, 'Stop it, or choose another LISTEN.')
  return problem(`${shown} cannot be listened on (${holder.code}).`, 'Choose another LISTEN.')
}

async function examinePublicUrl(deps: NetworkDeps, holder: Holder): Promise<Verdict> {
  const { baseIdTag, publicUrl, listen, federation } = deps.config
  if (publicUrl.template.includes('{port}') && listen.port === 0)
    return ok('It changes with the port at each start.')
  const url = publicUrlOf(publicUrl, baseIdTag, listen.port)
  if (url.startsWith('http:') && federation.allowPrivateNetwork === false)
    return problem(`${url} is not https.`, 'Other servers talk to https only: set PUBLIC_URL=https://{idTag}')
  const found = await ask(deps, new Map([[baseIdTag, url]]))
  if (found === 'ours') return ok(`${url} leads here.`)
  if (found === 'foreign')
    return problem(`Another server answers at ${url} for ${baseIdTag}.`, 'Check PUBLIC_URL and the DNS.')
  if (holder === 'nobody') return ok(`Nothing answers at ${url} while the server is not running.`)
  return warning(
    `${url} does not lead here, as far as can be seen from this machine.`,
    'Check PUBLIC_URL and the DNS. The firewall and the proxy in front must pass requests for this name on with their Host header.',
  )
}

/** Asks as another server would that does not know the base identity yet. */
async function examineDiscovery(deps: NetworkDeps, holder: Holder): Promise<Verdict> {
  const { baseIdTag, publicUrl, listen, federation } = deps.config
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

/** What answers for the base identity, where the list of hosts or the DNS say it lives. */
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
    localhostUrl: (idTag) => `http://${idTag}:${config.listen.port}`,
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
