import type { Backend } from '#infra/proxy/index.ts'
import type { Clock } from '#lib/clock.ts'
import { PeriodicWork } from '#lib/periodic-work.ts'
import { errorCode } from '#lib/system-error.ts'
import { backendOf, type ProxySite } from './proxy-site.ts'

export type Health = 'up' | 'down' | 'unknown'

interface HealthDeps {
  readonly clock: Clock
  /** The active sites. */
  list(): readonly ProxySite[]
  /** The status that a backend answers with at a path; rejects when it does not. */
  ask(backend: Backend, path: string): Promise<number>
  /** Told how many sites are up and down, after each check. */
  onChecked(sites: { readonly up: number; readonly down: number }): void
  onError(error: unknown): void
}

/** What a backend has answered, or why it has not. */
export interface SiteCheck {
  readonly path: string
  readonly health: 'up' | 'down'
  readonly status?: number
  readonly reason?: string
}

/** Asks a backend how it is. Without a `healthPath` it is up when it answers, whatever, but for failures of its own. */
export async function checkSite(
  { ask }: Pick<HealthDeps, 'ask'>,
  site: Pick<ProxySite, 'domain' | 'backendUrl' | 'config'>,
): Promise<SiteCheck> {
  const { healthPath } = site.config
  const path = healthPath ?? '/'
  try {
    const status = await ask(backendOf(site), path)
    const isUp = status < (healthPath === undefined ? 500 : 400)
    return { path, health: isUp ? 'up' : 'down', status }
  } catch (error) {
    return { path, health: 'down', reason: reasonOf(error) }
  }
}

/** An error of a connection to several addresses has a code and no message. */
function reasonOf(error: unknown): string {
  return (error instanceof Error && error.message) || errorCode(error) || String(error)
}

const everyMs = 30_000
const atOnce = 20

/** Checks the backends of sites with a `healthPath` every 30 s. It only reports: requests are passed on all the same. */
export class HealthChecks {
  readonly #deps: HealthDeps
  // Bounded by the sites.
  #found: ReadonlyMap<number, Health> = new Map()
  readonly #work: PeriodicWork

  constructor(deps: HealthDeps) {
    this.#deps = deps
    this.#work = new PeriodicWork({
      clock: deps.clock,
      everyMs,
      work: () => this.#checkAll(),
      onError: deps.onError,
    })
  }

  /** Starts or stops the checks when the first such site is added or the last removed. */
  follow(): void {
    if (this.#checked().length > 0) this.#work.start()
    else {
      this.#work.stop()
      this.#found = new Map()
      this.#tell()
    }
  }

  /** Undefined for a site without a `healthPath`. */
  of({ siteId, config }: ProxySite): Health | undefined {
    return config.healthPath === undefined ? undefined : (this.#found.get(siteId) ?? 'unknown')
  }

  /** Checks now. */
  run(): Promise<void> {
    return this.#work.run()
  }

  async stop(): Promise<void> {
    this.#work.stop()
    await this.#work.settled()
  }

  #tell(): void {
    const all = [...this.#found.values()]
    const down = all.filter((health) => health === 'down').length
    this.#deps.onChecked({ up: all.length - down, down })
  }

  #checked(): readonly ProxySite[] {
    return this.#deps.list().filter(({ config }) => config.healthPath !== undefined)
  }

  async #checkAll(): Promise<void> {
    const sites = this.#checked()
    const found = new Map<number, Health>()
    for (let from = 0; from < sites.length; from += atOnce) {
      const some = sites.slice(from, from + atOnce)
      await Promise.all(some.map(async (site) => found.set(site.siteId, await this.#check(site))))
    }
    this.#found = found
    this.#tell()
  }

  async #check(site: ProxySite): Promise<Health> {
    return (await checkSite(this.#deps, site)).health
  }
}
