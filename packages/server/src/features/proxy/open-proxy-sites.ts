import { type Database, serverTenant } from '#infra/db/index.ts'
import type { Backend } from '#infra/proxy/index.ts'
import type { Clock } from '#lib/clock.ts'
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
}

interface ProxySitesDeps {
  readonly db: Database
  readonly clock: Clock
  /** Called with the hosts after each reading. */
  onRead(hosts: ReadonlySet<string>): void
}

// How long a change by another process may go unnoticed.
const freshMs = 2_000

/** Opens the list. All of it is in memory; `maxSites` bounds it. */
export function openProxySites({ db, clock, onRead }: ProxySitesDeps): ProxySites {
  let sites: readonly ProxySite[] = []
  let backends: ReadonlyMap<string, Backend> = new Map()
  let readAtMs = Number.NEGATIVE_INFINITY
  let reading: Promise<void> | undefined

  async function read(): Promise<void> {
    const startedAtMs = clock.now()
    const all = await listSites(db.reader(serverTenant))
    sites = all.filter(({ status }) => status === 'A')
    backends = new Map(sites.map((site) => [site.domain, backendOf(site)]))
    readAtMs = startedAtMs
    onRead(new Set(backends.keys()))
  }

  /** Concurrent callers share one reading. When it fails, the list before stays in use. */
  function readOnce(): Promise<void> {
    reading ??= read()
      .catch(() => undefined)
      .finally(() => {
        reading = undefined
      })
    return reading
  }

  function isFresh(): boolean {
    const nowMs = clock.now()
    return nowMs >= readAtMs && nowMs < readAtMs + freshMs
  }

  const known = (host: string) => backends.get(host)
  return {
    find: (host) => (isFresh() ? known(host) : readOnce().then(() => known(host))),
    known,
    list: () => sites,
    async refresh() {
      // A reading under way may have begun before the change.
      await reading
      await readOnce()
    },
  }
}
