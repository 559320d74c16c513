import type { Logger } from '#infra/telemetry/index.ts'

/** The counters of the database; the server's metrics fit. */
export interface DatabaseMetrics {
  /** `durationMs` from asking for the transaction until it is durable or undone. */
  transactionEnded(outcome: 'committed' | 'failed', durationMs: number): void
  /** Transactions that shared one commit of SQLite. */
  batchCommitted(transactions: number): void
}

/** The logger and the metrics of a database. */
export interface DatabaseWatch {
  readonly logger: Pick<Logger, 'warn' | 'error'>
  readonly metrics: DatabaseMetrics
}

/** Neither logs nor counts. */
export const unwatched: DatabaseWatch = {
  logger: { warn: () => undefined, error: () => undefined },
  metrics: { transactionEnded: () => undefined, batchCommitted: () => undefined },
}

/** Counts a transaction when it has ended. */
export async function counted<Result>(
  metrics: DatabaseMetrics,
  transact: () => Promise<Result>,
): Promise<Result> {
  const startedAtMs = performance.now()
  let outcome: 'committed' | 'failed' = 'failed'
  try {
    const result = await transact()
    outcome = 'committed'
    return result
  } finally {
    metrics.transactionEnded(outcome, performance.now() - startedAtMs)
  }
}

/** Runs an effect after its commit; a failure is logged. */
export function runEffect({ logger }: DatabaseWatch, effect: () => void): void {
  try {
    effect()
  } catch (error) {
    logger.error({ err: error }, 'An effect after a commit failed')
  }
}
