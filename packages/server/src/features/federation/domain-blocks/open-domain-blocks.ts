import { type Database, serverTenant } from '#infra/db/index.ts'
import type { Clock } from '#lib/clock.ts'
import { domainsAbove } from './domain-block.ts'
import { listBlockedDomains } from './domain-block-store.ts'

/** The domains that the server blocks. */
export interface DomainBlocks {
  /** Is an identity or a host of this name, in lower case, within a blocked domain? */
  isBlocked(name: string): Promise<boolean>
  /** Drops the list from memory, after the commit of a change. */
  forget(): void
}

// The longest time for which a block set by another process is not noticed here.
const freshMs = 5_000

/** Opens the list of blocked domains. All of it is in memory; `maxBlocks` bounds it. */
export function openDomainBlocks({ db, clock }: { db: Database; clock: Clock }): DomainBlocks {
  let loaded: { readonly domains: Promise<ReadonlySet<string>>; readonly atMs: number } | undefined

  function load(): Promise<ReadonlySet<string>> {
    const nowMs = clock.now()
    if (loaded && nowMs >= loaded.atMs && nowMs < loaded.atMs + freshMs) return loaded.domains
    const domains = listBlockedDomains(db.reader(serverTenant)).then((list) => new Set(list))
    const loading = { domains, atMs: nowMs }
    loaded = loading
    // The next call loads the list again.
    domains.catch(() => {
      if (loaded === loading) loaded = undefined
    })
    return domains
  }

  return {
    async isBlocked(name) {
      const domains = await load()
      return domains.size > 0 && domainsAbove(name).some((domain) => domains.has(domain))
    },
    forget() {
      loaded = undefined
    },
  }
}
