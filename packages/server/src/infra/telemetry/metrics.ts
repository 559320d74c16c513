/** The metrics of a server. No label takes a value that a client chose. */
export interface Metrics {
  /** `route` is the path template of the contract, undefined when none matched. */
  requestServed(request: {
    readonly method: string
    readonly route: string | undefined
    readonly status: number
    readonly durationMs: number
  }): void
  jobRan(kind: string, outcome: 'done' | 'retry' | 'dead' | 'released', durationMs: number): void
  deliveryTried(outcome: 'delivered' | 'retry' | 'stopped', durationMs: number): void
  /** `removed`: the push service knows the browser no more. `refused`: not tried again. */
  pushTried(outcome: 'sent' | 'retry' | 'removed' | 'refused'): void
  /** `rcode` is one of the few that are told. */
  dnsAnswered(rcode: string, transport: 'udp' | 'tcp'): void
  /** A question over UDP above what its network may ask, or more than are answered at once. */
  dnsLimited(outcome: 'truncated' | 'dropped'): void
  transactionEnded(outcome: 'committed' | 'failed', durationMs: number): void
  /** Transactions that shared one commit. */
  batchCommitted(transactions: number): void
  /** Proxy sites by what the last check of their backends found. */
  proxySitesChecked(sites: { readonly up: number; readonly down: number }): void
  /** A request for a proxy site that its backend did not answer, or that was not passed on. */
  proxyRefused(status: number): void
  /** Has what the whole server counts read with each scrape. */
  followCounts(read: () => Promise<ServerCounts>): void
  /** Has the open WebSockets of this process counted with each scrape. */
  followSockets(count: () => number): void
  /** How the certificates stand: names, those without one, those whose last attempt failed, and when the first one ends
   * (Unix seconds). */
  certificates(counts: {
    readonly names: number
    readonly missing: number
    readonly failing: number
    readonly firstEnd: number | undefined
  }): void
  /** The metrics of this server and of its process in the text format of Prometheus. */
  scrape(): Promise<{ readonly contentType: string; readonly text: string }>
}

/** What the database and the disk tell, whichever process is asked. */
export interface ServerCounts {
  readonly tenants: { readonly active: number; readonly suspended: number }
  readonly people: { readonly activeIn7Days: number; readonly activeIn30Days: number }
  readonly storage: { readonly usedBytes: number; readonly files: number }
  readonly freeBytes: number
  readonly databaseBytes: number
  readonly jobs: readonly {
    readonly kind: string
    readonly waiting: number
    readonly running: number
    readonly failed: number
  }[]
}
