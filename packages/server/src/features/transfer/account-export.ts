import type { AccountExportView } from '@kith/protocol'

/** Why an export ended: `complete`, or what broke it off. */
export type ExportOutcome = NonNullable<AccountExportView['reason']> | 'complete'

/** The download that an account began last. Times are Unix seconds. */
export interface ExportRun {
  readonly runId: string
  readonly startedAt: number
  /** Told anew while it is sent; past it the process that sent it has died. */
  readonly aliveUntil: number
  readonly endedAt: number | undefined
  readonly outcome: ExportOutcome | undefined
  readonly sentBytes: number
}

/** What is known of the exports of an account. */
export interface AccountExport {
  readonly ticketUntil: number | undefined
  readonly run: ExportRun | undefined
  readonly countedFrom: number
  readonly counted: number
}

export const ticketSecs = 60
export const aliveSecs = 60
const countedSecs = 24 * 3600
const maxCounted = 6

export function isRunning({ run }: Pick<AccountExport, 'run'>, now: number): boolean {
  return run !== undefined && run.outcome === undefined && run.aliveUntil > now
}

/** Seconds until another export may begin; 0: now. */
export function secsToNext({ countedFrom, counted }: AccountExport, now: number): number {
  return counted < maxCounted ? 0 : Math.max(0, countedFrom + countedSecs - now)
}

/** The count with one that begins now. */
export function countOne(
  { countedFrom, counted }: Pick<AccountExport, 'countedFrom' | 'counted'>,
  now: number,
): Pick<AccountExport, 'countedFrom' | 'counted'> {
  if (countedFrom + countedSecs <= now) return { countedFrom: now, counted: 1 }
  return { countedFrom, counted: counted + 1 }
}

export function exportView(present: AccountExport | undefined, now: number): AccountExportView {
  const run = present?.run
  if ((present?.ticketUntil ?? 0) > now) return { status: 'waiting' }
  if (!present || !run) return { status: 'none' }
  const { startedAt, sentBytes, outcome } = run
  if (isRunning(present, now)) return { status: 'running', startedAt, sentBytes }
  const endedAt = run.endedAt ?? run.aliveUntil
  if (outcome === 'complete') return { status: 'complete', startedAt, endedAt, sentBytes }
  return { status: 'broken', startedAt, endedAt, sentBytes, reason: outcome ?? 'stopped' }
}
