import { randomUUID } from 'node:crypto'
import { type Database, serverTenant } from '#infra/db/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { PeriodicWork } from '#lib/periodic-work.ts'
import { deleteReport, putReport } from './socket-report-store.ts'

const everyMs = 60_000
/** A process that has not reported for so long is gone: two reports may be late. */
export const reportLifeSecs = 180

interface SocketReportDeps {
  readonly db: Database
  readonly clock: Clock
  readonly logger: { error(fields: object, message: string): void }
  /** The open WebSockets of this process. */
  count(): number
}

/** Tells the database each minute how many WebSockets this process has open, until the returned function is called. */
export function reportSockets({ db, clock, logger, count }: SocketReportDeps): () => Promise<void> {
  const inBackground = { isolation: 'read-committed', isBackground: true } as const
  const nodeId = randomUUID()
  let isReported = false
  const report = async (sockets: number) => {
    // A server that nobody is connected to writes nothing.
    if (sockets === 0 && !isReported) return
    await db.transact(
      serverTenant,
      (tx) =>
        sockets === 0
          ? deleteReport(tx, nodeId)
          : putReport(tx, { nodeId, sockets, reportedAt: nowSecs(clock) }),
      inBackground,
    )
    isReported = sockets > 0
  }
  const work = new PeriodicWork({
    ...{ clock, everyMs },
    work: () => report(count()),
    onError: (error) => logger.error({ err: error }, 'open sockets could not be reported'),
  })
  work.start()
  return async () => {
    work.stop()
    await work.settled()
    // A database that is away keeps the report for three minutes.
    await report(0).catch(() => undefined)
  }
}
