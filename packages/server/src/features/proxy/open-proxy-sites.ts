import type { NodeBus } from '#infra/bus/index.ts'
import { type Database, serverTenant } from '#infra/db/index.ts'
import type { Backend } from '#infra/proxy/index.ts'
import type { Clock } from '#lib/clock.ts'
import { PeriodicWork } from '#lib/periodic-work.ts'
import { backendOf, type ProxySite } from './proxy-site.ts'
import { listSites } from './proxy-site-store.ts'

export interface ProxySites {
  /** The backend of a host in lower case without port. A promise where the list has to be read again; it never rejects. */
  find(host: string): Backend | undefined | Promise<Backend | undefined>
  /** The same, by the list as it was last read. */
  known(host: string): Backend | undefined
  /** The active sites as they were last read. */
  list(): readonly ProxySite[]
  /** Reads the list again, and resolves when requests are answered by it. */
  refresh(): Promise<void>
  /** The same after a change by this process; the others are told to do so too. */
  noteChange(): Promise<void>
  close(): Promise<void>
}

interface ProxySitesDeps {
  readonly db: Database
  readonly clock: Clock
  readonly nodeBus: Pick<NodeBus, 'publish' | 'subscribe'>
  /** Called with the hosts after each reading. */
  onRead(hosts: ReadonlySet<string>): void
}

const channel = 'proxy-sites'
// How long a change may go unnoticed by processes that nobody tells of it.
const freshMs = 2_000
// Before it is no longer fresh, so that no request waits for the database.
const readEveryMs = 1_500

/** Opens the list. All of it is in memory; `maxSites` bounds it. */
export function openProxySites({ db, clock, nodeBus, onRead }: ProxySitesDeps): ProxySites {
  let sites: readonly ProxySite[] = []
  let backends: ReadonlyMap<string, Backend> = new Map()
  let readAtMs = Number.NEGATIVE_INFINITY
  // The list before stays in use while it cannot be read.
  const reading = new PeriodicWork({ clock, everyMs: readEveryMs, work: read, onError: () => undefined })
  const leave = nodeBus.subscribe(channel, {
    onMessage: () => void reading.run(),
    onGap: () => void reading.run(),
  })

  async function read(): Promise<void> {
    const startedAtMs = clock.now()
    const all = await listSites(db.reader(serverTenant))
    sites = all.filter(({ status }) => status === 'A')
    backends = new Map(sites.map((site) => [site.domain, backendOf(site)]))
    readAtMs = startedAtMs
    onRead(new Set(backends.keys()))
    // WebSockets of a site end with it, also where no request comes any more. A server without sites only looks when one comes.
    if (sites.length > 0) reading.start()
    else reading.stop()
  }

  function isFresh(): boolean {
    const nowMs = clock.now()
    return nowMs >= readAtMs && nowMs < readAtMs + freshMs
  }

  const known = (host: string) => backends.get(host)
  return {
    find: (host) => (isFresh() ? known(host) : reading.run().then(() => known(host))),
    known,
    list: () => sites,
    refresh: () => reading.run(),
    async noteChange() {
      // Reaches the listener above at once.
      nodeBus.publish(channel, '')
      await reading.settled()
    },
    async close() {
      leave()
      reading.stop()
      await reading.settled()
    },
  }
}
