import { isIP } from 'node:net'
import type { RawRoute, RawVisit, WholeAnswer } from '#infra/http/index.ts'
import type { Metrics } from '#infra/telemetry/index.ts'
import type { Services } from './services.ts'

/** `/healthz`, `/readyz` and, when they have no address of their own, `/metrics`: on every host of the server. */
export function operationsRoutes({
  db,
  blobs,
  metrics,
  config,
}: Pick<Services, 'db' | 'blobs' | 'metrics' | 'config'>): RawRoute[] {
  const isReady = () =>
    db.ping().then(
      async () =>
        (await blobs.isAnswering()) ? text(200, 'ok') : text(503, 'the store of blobs does not answer'),
      () => text(503, 'the database does not answer'),
    )
  return [
    { method: 'GET', path: '/healthz', handle: () => text(200, 'ok') },
    { method: 'GET', path: '/readyz', handle: isReady },
    ...(config.metricsListen ? [] : [metricsRoute(metrics, isFromThisMachine)]),
  ]
}

/** `/metrics` in the text format of Prometheus, for clients that `mayRead` accepts. */
export function metricsRoute(metrics: Metrics, mayRead: (visit: RawVisit) => boolean): RawRoute {
  return {
    method: 'GET',
    path: '/metrics',
    async handle(visit) {
      if (!mayRead(visit)) return text(404, 'not found')
      const { contentType, text: body } = await metrics.scrape()
      return { status: 200, headers: { 'content-type': contentType, 'cache-control': 'no-store' }, body }
    },
  }
}

// Any of them is written by a proxy, CDNs included, and by no scraper.
const proxyHeader = /^(?:forwarded|via|x-forwarded-.+|x-real-ip|x-client-ip|true-client-ip|cf-connecting-ip)$/

/** Requests that a proxy on this machine forwards do not count as local, whether it is trusted or not: by its headers,
 * and where it adds none by the name that the client asked for. */
function isFromThisMachine({ peer, request }: RawVisit): boolean {
  const isForwarded = Object.keys(request.headers).some((name) => proxyHeader.test(name))
  return !isForwarded && isLoopback(peer.ip) && peer.host !== undefined && isLocalHost(peer.host)
}

function isLocalHost(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost') || isLoopback(host.replace(/^\[(.*)\]$/, '$1'))
}

function isLoopback(ip: string): boolean {
  return ip === '::1' || (isIP(ip) === 4 && ip.startsWith('127.'))
}

function text(status: number, body: string): WholeAnswer {
  return {
    status,
    headers: { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' },
    body: `${body}\n`,
  }
}
