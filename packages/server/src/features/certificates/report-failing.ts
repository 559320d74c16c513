import { type Database, serverTenant, type Writer } from '#infra/db/index.ts'
import type { Logger } from '#infra/telemetry/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { type CertificateState, warningStage } from './certificate.ts'
import { eachPage, setWarned } from './certificate-store.ts'

export interface ReportDeps {
  readonly db: Database
  readonly clock: Clock
  readonly logger: Pick<Logger, 'warn'>
  /** Tells the administrator of names without a certificate that browsers take, in the transaction. */
  tellAdmin(tx: Writer, states: readonly CertificateState[]): Promise<void>
}

export const reportEveryMs = 24 * 3_600_000

/** Tells of names whose stage has become worse since the administrator was last told of them, all in one mail. */
export async function reportFailing({ db, clock, logger, tellAdmin }: ReportDeps): Promise<void> {
  const now = nowSecs(clock)
  const worse: CertificateState[] = []
  for await (const page of eachPage(db))
    worse.push(...page.filter((state) => warningStage(state, now) > state.warnedStage))
  if (worse.length === 0) return
  await db.transact(serverTenant, async (tx) => {
    for (const [stage, states = []] of Map.groupBy(worse, (state) => warningStage(state, now)))
      for (let from = 0; from < states.length; from += writtenAtOnce)
        await setWarned(
          tx,
          states.slice(from, from + writtenAtOnce).map(({ name }) => name),
          stage,
        )
    await tellAdmin(tx, worse)
  })
  const names = worse.slice(0, mostLogged).map(({ name }) => name)
  logger.warn({ count: worse.length, names }, 'certificates end soon and cannot be renewed, or cannot be got')
}

const writtenAtOnce = 500
const mostLogged = 20
