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
  transactionEnded(outcome: 'committed' | 'failed', durationMs: number): void
  /** Transactions that shared one commit. */
  batchCommitted(transactions: number): void
  /** The metrics of this server and of its process in the text format of Prometheus. */
  scrape(): Promise<{ readonly contentType: string; readonly text: string }>
}
