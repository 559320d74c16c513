import { randomBytes } from 'node:crypto'
import type { IdTag } from '@kith/protocol'
import { assertSessionLives, secretHash } from '#features/accounts/index.ts'
import { audit } from '#features/audit/index.ts'
import type { Database, Reader, TenantId, Writer } from '#infra/db/index.ts'
import type { Logger } from '#infra/telemetry/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import { PeriodicWork } from '#lib/periodic-work.ts'
import {
  type AccountExport,
  aliveSecs,
  countOne,
  type ExportOutcome,
  isRunning,
  secsToNext,
} from './account-export.ts'
import { findExport, noteRun, putRun, type Ticket } from './export-store.ts'

export interface RunDeps {
  readonly db: Database
  readonly clock: Clock
  readonly logger: Pick<Logger, 'error'>
}

interface Redeeming {
  readonly tenantId: TenantId
  readonly idTag: IdTag
  readonly ticket: string
  readonly ip: string
}

const beatMs = 15_000

/** Spends a ticket. One that is unknown, used or late, or whose session has ended, answers like no ticket: `E-NOTFOUND`. */
export async function beginRun(
  deps: RunDeps,
  { tenantId, idTag, ticket, ip }: Redeeming,
): Promise<ExportRun> {
  const { db, clock } = deps
  const runId = randomBytes(12).toString('base64url')
  const { sessionId } = await db.transact(tenantId, async (tx) => {
    const now = nowSecs(clock)
    const { present, sessionId } = await getTicket(deps, tx, ticket)
    if (isRunning(present, now) || secsToNext(present, now) > 0) throw new Failure('E-STATE')
    await putRun(tx, { runId, startedAt: now, aliveUntil: now + aliveSecs, ...countOne(present, now) })
    await audit(deps, tx, { event: 'account.exported', actorTag: idTag, ip })
    return { sessionId }
  })
  return new ExportRun(deps, { tenantId, runId, sessionId })
}

/** What a ticket is for, as long as it is good. */
export async function getTicket(
  { clock }: Pick<RunDeps, 'clock'>,
  reader: Reader,
  ticket: string,
): Promise<{ readonly present: AccountExport; readonly sessionId: string }> {
  const present = await findExport(reader)
  if (!present || !isGood(present.ticket, ticket, nowSecs(clock))) throw new Failure('E-NOTFOUND')
  const { sessionId } = present.ticket
  if (!(await isLive({ clock }, reader, sessionId))) throw new Failure('E-NOTFOUND')
  return { present, sessionId }
}

function isGood(known: Ticket | undefined, shown: string, now: number): known is Ticket {
  return known !== undefined && known.until > now && known.hash === secretHash(shown)
}

async function isLive(deps: Pick<RunDeps, 'clock'>, reader: Reader, sessionId: string): Promise<boolean> {
  try {
    await assertSessionLives(deps, reader, { sessionId })
    return true
  } catch (error) {
    if (error instanceof Failure && error.code === 'E-AUTH-UNAUTH') return false
    throw error
  }
}

/** One download of an account. While it lives it says so in the database, and looks whether its session does. */
export class ExportRun {
  readonly #deps: RunDeps
  readonly #of: { readonly tenantId: TenantId; readonly runId: string; readonly sessionId: string }
  readonly #over = new AbortController()
  readonly #beat: PeriodicWork
  #outcome: ExportOutcome | undefined
  #ended: Promise<void> | undefined
  sentBytes = 0

  constructor(deps: RunDeps, of: { tenantId: TenantId; runId: string; sessionId: string }) {
    this.#deps = deps
    this.#of = of
    this.#beat = new PeriodicWork({
      clock: deps.clock,
      everyMs: beatMs,
      work: () => this.#tellAlive(),
      onError: (err) => deps.logger.error({ err }, 'An export could not be noted'),
    })
    this.#beat.start()
  }

  /** Aborted when nothing more is to be sent. */
  get signal(): AbortSignal {
    return this.#over.signal
  }

  /** The first reason is the one that is told. */
  cutOff(outcome: ExportOutcome): void {
    this.#outcome ??= outcome
    this.#over.abort(new Failure('E-UNAVAILABLE'))
  }

  /** Notes how it ended; where it was cut off, for what. */
  end(outcome: ExportOutcome): Promise<void> {
    this.#ended ??= this.#end(outcome)
    return this.#ended
  }

  async #end(outcome: ExportOutcome): Promise<void> {
    this.#beat.stop()
    await this.#beat.settled()
    const ended = {
      at: nowSecs(this.#deps.clock),
      outcome: outcome === 'complete' ? outcome : (this.#outcome ?? outcome),
    }
    try {
      await this.#note((tx, runId) => noteRun(tx, runId, { sentBytes: this.sentBytes, ended }))
    } catch (err) {
      this.#deps.logger.error({ err }, 'An export could not be noted')
    }
  }

  async #tellAlive(): Promise<void> {
    const aliveUntil = nowSecs(this.#deps.clock) + aliveSecs
    const isMine = await this.#note(async (tx, runId) => {
      if (!(await isLive(this.#deps, tx, this.#of.sessionId))) return false
      return await noteRun(tx, runId, { sentBytes: this.sentBytes, aliveUntil })
    })
    if (!isMine) this.cutOff('signed-out')
  }

  async #note<T>(work: (tx: Writer, runId: string) => Promise<T>): Promise<T> {
    const { tenantId, runId } = this.#of
    return await this.#deps.db.transact(tenantId, (tx) => work(tx, runId))
  }
}
