import type { LoopGuard } from '#infra/egress/index.ts'
import { type ProxiedHosts, type ProxiedRequest, type ProxiedUpgrade, rateKeyOf } from '#infra/http/index.ts'
import type { Logger } from '#infra/telemetry/index.ts'
import { Bag, type BagMember } from '#lib/bag.ts'
import type { Clock } from '#lib/clock.ts'
import type { Backend } from './backend.ts'
import { BackendPools, maxConnections } from './backend-pools.ts'
import { findSurplus, type PassedOn } from './find-surplus.ts'
import { forwardRequest } from './forward-request.ts'
import { forwardUpgrade } from './forward-upgrade.ts'
import type { Refusal } from './refusal.ts'
import { faultOf, hasBody } from './request-faults.ts'
import { SilenceWatch } from './silence-watch.ts'

export interface ProxyOptions {
  readonly clock: Clock
  readonly logger: Pick<Logger, 'warn' | 'error'>
  readonly loopGuard: LoopGuard
  /** The backend of a host in lower case without port. A promise where it has to be looked up. */
  find(host: string): Backend | undefined | Promise<Backend | undefined>
  /** The same, as far as it is in memory. */
  known(host: string): Backend | undefined
  /** Told of each request that its backend did not answer to the end, or that was not passed on. */
  readonly onRefused?: (status: Refusal) => void
}

/** A reverse proxy for some hosts. */
export interface ReverseProxy extends ProxiedHosts<Backend>, AsyncDisposable {
  /** Ends what is under way for other hosts than these. */
  keepOnly(hosts: ReadonlySet<string>): void
  readonly tunnels: number
  /** Ends WebSockets at once and requests after five seconds. */
  stop(): Promise<void>
}

const maxTunnels = 5000
const maxTunnelsPerHost = 1000
const maxTunnelsPerAddress = 100
const stopAfterMs = 5000
// Every request fails while a backend is down: one line per interval is enough.
const warnEveryMs = 10_000

const siteEnded = 'the site has ended'
const serverStops = 'the server stops'

interface UnderWay extends PassedOn {
  end(why: string): void
}

type RequestUnderWay = BagMember & UnderWay
type TunnelUnderWay = UnderWay & { readonly host: string }

export function openProxy(options: ProxyOptions): ReverseProxy {
  return new HostsProxy(options)
}

class HostsProxy implements ReverseProxy {
  readonly #options: ProxyOptions
  readonly #pools = new BackendPools()
  readonly #watch: SilenceWatch
  // For each host at most as many as it may have connections.
  readonly #requests = new Map<string, Bag<RequestUnderWay>>()
  // Bounded by `maxTunnels`.
  readonly #tunnels = new Set<TunnelUnderWay>()
  readonly #tunnelsOf = new Map<string, number>()
  // Bounded by the hosts.
  readonly #warnedMs = new Map<string, number>()
  #begun = 0
  #isStopping = false

  constructor(options: ProxyOptions) {
    this.#options = options
    this.#watch = new SilenceWatch(options.clock, (err) =>
      options.logger.error({ err }, 'requests under way could not be looked at'),
    )
  }

  get tunnels(): number {
    return this.#tunnels.size
  }

  find(host: string) {
    return this.#options.find(host)
  }

  takesUpgrade(host: string): boolean {
    return this.#options.known(host)?.takesWebSockets === true
  }

  async forward(visit: ProxiedRequest, backend: Backend): Promise<void> {
    const { request, refuse, peer } = visit
    const fault = faultOf(request)
    if (fault !== undefined) {
      this.#refuse(refuse, fault)
      return
    }
    const pool = this.#pools.find(backend) ?? (await this.#loadedPool(backend))
    const underWay = this.#requests.get(backend.host) ?? new Bag<RequestUnderWay>()
    if (request.socket.destroyed) return
    const address = rateKeyOf(peer.ip)
    if (this.#isStopping || !hasRoom(underWay, { most: maxConnections, address })) {
      this.#refuse(refuse, 503)
      return
    }
    this.#requests.set(backend.host, underWay)
    let entry: RequestUnderWay | undefined
    let isOver = false
    const { end } = forwardRequest(visit, {
      pool,
      pools: this.#pools,
      backend,
      watch: this.#watch,
      via: this.#options.loopGuard.extend(request.headers.via),
      onFault: (status, error) => this.#warn(visit, backend, status, error),
      onEnd() {
        isOver = true
        if (entry) underWay.delete(entry)
      },
    })
    entry = { address, number: this.#begun++, end, bagIndex: -1 }
    if (!isOver) underWay.add(entry)
  }

  forwardUpgrade(visit: ProxiedUpgrade, backend: Backend): void {
    const { request, refuse, peer, connection } = visit
    // Its `close` event, which would end the tunnel, was emitted before.
    if (connection.destroyed) return
    const address = rateKeyOf(peer.ip)
    const own = this.#tunnelsOf.get(address) ?? 0
    // The bytes after the head of an upgrade belong to the other protocol, so it may not have a body.
    const isFaulty = hasBody(request) || faultOf(request) !== undefined
    if (isFaulty || this.#isStopping || own >= maxTunnelsPerAddress || !this.#hasRoomFor(backend, address)) {
      this.#refuse(refuse, isFaulty ? 400 : 503)
      return
    }
    this.#tunnelsOf.set(address, own + 1)
    const release = () => {
      this.#tunnels.delete(entry)
      const left = (this.#tunnelsOf.get(address) ?? 1) - 1
      if (left > 0) this.#tunnelsOf.set(address, left)
      else this.#tunnelsOf.delete(address)
    }
    const entry = { host: backend.host, address, number: this.#begun++, end: () => tunnel?.end() }
    this.#tunnels.add(entry)
    const tunnel = this.#openTunnel(visit, backend, release)
  }

  #hasRoomFor({ host }: Backend, address: string): boolean {
    if (!hasRoom(this.#tunnels, { most: maxTunnels, address })) return false
    // Fewer in all cannot be too many for one.
    if (this.#tunnels.size < maxTunnelsPerHost) return true
    const own = new Set([...this.#tunnels].filter((tunnel) => tunnel.host === host))
    return hasRoom(own, { most: maxTunnelsPerHost, address })
  }

  /** Refuses what cannot be asked for. */
  #openTunnel(visit: ProxiedUpgrade, backend: Backend, onEnd: () => void) {
    const tunnelling = {
      backend,
      watch: this.#watch,
      via: this.#options.loopGuard.extend(visit.request.headers.via),
      onFault: (status: Refusal, error: Error) => this.#warn(visit, backend, status, error),
      onEnd,
    }
    try {
      return forwardUpgrade(visit, tunnelling)
    } catch {
      onEnd()
      this.#refuse(visit.refuse, 400)
      return undefined
    }
  }

  keepOnly(hosts: ReadonlySet<string>): void {
    for (const tunnel of [...this.#tunnels]) if (!hosts.has(tunnel.host)) tunnel.end(siteEnded)
    for (const host of this.#warnedMs.keys()) if (!hosts.has(host)) this.#warnedMs.delete(host)
    for (const [host, underWay] of this.#requests) {
      if (hosts.has(host)) continue
      for (const request of underWay) request.end(siteEnded)
      this.#requests.delete(host)
    }
    this.#pools.keepOnly(hosts)
  }

  async stop(): Promise<void> {
    this.#isStopping = true
    for (const tunnel of [...this.#tunnels]) tunnel.end(serverStops)
    const { clock } = this.#options
    clock.wakeAt(clock.now() + stopAfterMs, () => {
      for (const underWay of this.#requests.values()) for (const { end } of underWay) end(serverStops)
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#pools.destroy()
  }

  async #loadedPool(backend: Backend) {
    await this.#pools.load()
    const pool = this.#pools.find(backend)
    if (!pool) throw new TypeError('a loaded client makes pools')
    return pool
  }

  #refuse(refuse: (status: Refusal) => void, status: Refusal): void {
    this.#options.onRefused?.(status)
    refuse(status)
  }

  #warn(visit: ProxiedRequest | ProxiedUpgrade, backend: Backend, status: Refusal, err: Error): void {
    const { clock, logger, onRefused } = this.#options
    onRefused?.(status)
    const nowMs = clock.now()
    if (nowMs - (this.#warnedMs.get(backend.host) ?? Number.NEGATIVE_INFINITY) < warnEveryMs) return
    this.#warnedMs.set(backend.host, nowMs)
    const { method, url = '' } = visit.request
    const path = url.replace(/\?.*$/s, '')
    const fields = {
      host: backend.host,
      backend: backend.origin,
      method,
      path,
      status,
      reqId: visit.requestId,
    }
    const reason = 'code' in err ? `${err.message} (${String(err.code)})` : err.message
    logger.warn({ ...fields, reason }, 'a backend did not answer, or not to the end')
  }
}

/** Whether one more fits in; where all places are taken, an address with many gives one up. */
function hasRoom(
  members: Iterable<UnderWay> & { readonly size: number },
  { most, address }: { readonly most: number; readonly address: string },
): boolean {
  if (members.size < most) return true
  const surplus = findSurplus(members, address)
  surplus?.end('its place was needed for another address')
  return surplus !== undefined
}
