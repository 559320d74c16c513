import { once } from 'node:events'
import { connect } from 'node:net'
import type { Config, ListenAddress } from '#infra/config/index.ts'
import { errorCode } from '#lib/system-error.ts'
import { findRunningServer } from '../../lock-data-dir.ts'
import { bindDnsBriefly, listenBriefly } from '../../try-to-listen.ts'
import { examine, type Finding, ok, problem, type Verdict, warning } from './finding.ts'

/** What listens on a port; or the code of the error for which nothing can. */
export type Holder = 'nobody' | 'a server' | 'another program' | { readonly code: string | undefined }

const healthTimeoutMs = 3000
const connectTimeoutMs = 1000
const lastPrivilegedPort = 1023

/** What has the port of HTTP, where every server answers its health; without one in this DATA_DIR it is another program, or
 * the server of another DATA_DIR. */
export async function findHolder(config: Config): Promise<Holder> {
  const address = config.listen
  const found = address.port === 0 ? 'free' : await tryToListen(address, listenBriefly)
  if (found === 'free') return 'nobody'
  if (found !== 'taken') return found
  const isOurs = (await mayRun(config)) && (await answersHealthz(address))
  return isOurs ? 'a server' : 'another program'
}

/** A DATA_DIR that is closed to this user may have one. */
function mayRun(config: Config): Promise<boolean> {
  return findRunningServer(config).then(
    (running) => running !== undefined,
    () => true,
  )
}

/** The ports of a server, each tried as the server does it. */
export function examinePorts(config: Config, holder: Promise<Holder>): Promise<Finding>[] {
  const { listen: main, tls, metricsListen, federation } = config
  // Whoever holds the other ports is taken for the one that holds that of HTTP.
  const port = (check: string, variable: string, address: ListenAddress, bind: Bind = listenBriefly) =>
    examine(check, async () => verdictOn(variable, address, await findState(address, bind, await holder)))
  return [
    examine(
      'Listening',
      async () =>
        otherListen(main, await holder, await findUrl(config)) ?? verdictOn('LISTEN', main, await holder),
    ),
    ...(tls.kind === 'off' ? [] : [port('Listening for TLS', 'LISTEN_TLS', tls.listen)]),
    ...(metricsListen ? [port('Listening for metrics', 'METRICS_LISTEN', metricsListen)] : []),
    ...federation.dnsListen.map((address) =>
      port('Listening for DNS', 'DNS_LISTEN', address, bindDnsBriefly),
    ),
  ]
}

/** Where the server of this DATA_DIR says that it answers; undefined where none runs, or this user may not look. */
async function findUrl(config: Config): Promise<string | undefined> {
  const running = await findRunningServer(config).catch(() => undefined)
  return running?.heldBy?.url
}

/** A server that runs was told another address than this command: the variables of its start are not these. */
function otherListen(address: ListenAddress, holder: Holder, url: string | undefined): Verdict | undefined {
  if (holder !== 'nobody' || url === undefined || address.port === 0) return undefined
  return warning(
    `The server answers at ${url}, and LISTEN is ${shownAddress(address)} here.`,
    'Run kith with the same variables as the server: in its working directory, with a .env file that both read. Other findings may be wrong until then.',
  )
}

type Bind = (address: ListenAddress) => Promise<void>

async function findState(address: ListenAddress, bind: Bind, holder: Holder): Promise<Holder | 'missing'> {
  const found = address.port === 0 ? 'free' : await tryToListen(address, bind)
  const isRunning = holder === 'a server'
  if (found === 'free') return isRunning && address.port !== 0 ? 'missing' : 'nobody'
  if (found !== 'taken') return found
  return isRunning ? 'a server' : 'another program'
}

async function tryToListen(
  address: ListenAddress,
  bind: Bind,
): Promise<'free' | 'taken' | { readonly code: string | undefined }> {
  try {
    await bind(address)
    return 'free'
  } catch (error) {
    const code = errorCode(error)
    // A server that was given the right to low ports may run beside a command that was not.
    const isTaken = code === 'EADDRINUSE' || (code === 'EACCES' && (await takesConnections(address)))
    return isTaken ? 'taken' : { code }
  }
}

async function takesConnections({ host, port }: ListenAddress): Promise<boolean> {
  const socket = connect({ host: nearHost(host), port })
  try {
    await once(socket, 'connect', { signal: AbortSignal.timeout(connectTimeoutMs) })
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}

/** Not with the egress client, which is not allowed to call this machine. */
async function answersHealthz({ host, port }: ListenAddress): Promise<boolean> {
  const signal = AbortSignal.timeout(healthTimeoutMs)
  const answer = await fetch(`http://${shownAddress({ host: nearHost(host), port })}/healthz`, {
    signal,
  }).catch(() => undefined)
  return answer?.status === 200
}

/** Where to ask a server that listens everywhere: on this machine, which may be without IPv6. */
export function nearHost(host: string): string {
  return host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host
}

/** As it stands in a URL. */
export function shownAddress({ host, port }: ListenAddress): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`
}

function verdictOn(variable: string, address: ListenAddress, state: Holder | 'missing'): Verdict {
  const { port } = address
  const shown = shownAddress(address)
  if (port === 0) return ok('Each start picks a free port.')
  switch (state) {
    case 'a server':
      return ok(`A server answers on ${shown}.`)
    case 'nobody':
      return warning(`Nothing listens on ${shown}: the server is not running.`, 'kith serve')
    case 'missing':
      return problem(
        `Nothing listens on ${shown}, but a server is running.`,
        'Start it again with this environment.',
      )
    case 'another program':
      return problem(`Another program has ${shown}.`, `Stop it, or choose another ${variable}.`)
    default:
      // The service may have a right that a command of the same user has not.
      if (state.code === 'EACCES' && port <= lastPrivilegedPort)
        return warning(
          `Nothing listens on ${shown}, and this user may not try it.`,
          `Start the server. A user without rights has ports below ${lastPrivilegedPort + 1} by deploy/kith-ports.conf (docs/operations/tls.md).`,
        )
      return problem(`${shown} cannot be listened on (${state.code}).`, `Choose another ${variable}.`)
  }
}
