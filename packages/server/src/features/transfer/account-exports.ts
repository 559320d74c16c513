import type { Readable } from 'node:stream'
import type { HostedTenant } from '#features/tenants/index.ts'
import { type Spool, type Spools, streamArchive } from '#infra/archive/index.ts'
import type { Tenant } from '#infra/caller/index.ts'
import type { TenantId } from '#infra/db/index.ts'
import { Failure } from '#lib/failure.ts'
import { Gate } from '#lib/gate.ts'
import { errorCode } from '#lib/system-error.ts'
import { watchReader } from '#lib/watch-reader.ts'
import type { ExportOutcome } from './account-export.ts'
import { beginRun, type ExportRun, type RunDeps } from './export-run.ts'
import { type ExportDeps, exportBytes, exportRows } from './export-tenant.ts'
import { ExportTurns } from './export-turns.ts'

export interface AccountExportsDeps extends ExportDeps, RunDeps {
  readonly spools: Spools
  readonly getTenant: (tenantId: TenantId) => Promise<HostedTenant>
}

interface ExportVisit {
  readonly tenant: Tenant
  readonly ticket: string
  readonly ip: string
  /** Aborted when nobody reads the answer any more, with a failure where the server stops. */
  readonly signal: AbortSignal
}

// One piece is 64 KiB: 1 kB a second is enough, and a phone may be without a network for a minute.
const pieceMs = 60_000
const totalMs = 24 * 3_600_000
// The database is held at one moment for so long at most.
const rowsMs = 15 * 60_000
// Of those who have a turn all others may wait.
const atRows = { total: 2, perKey: 1, waitingPerKey: 1, waiting: 16 }

/** The exports that this process sends. */
export interface AccountExports {
  open(visit: ExportVisit): Promise<Readable>
  /** Ends all, and waits until that is noted. */
  close(): Promise<void>
}

export function openAccountExports(deps: AccountExportsDeps): AccountExports {
  const turns = new ExportTurns(deps.clock)
  const gate = new Gate(atRows)
  // As many as there are turns, and those that are being noted.
  const runs = new Set<ExportRun>()
  const ends = new Set<Promise<void>>()

  async function open(visit: ExportVisit): Promise<Readable> {
    let run: ExportRun | undefined
    const leave = turns.enter({ sentBytes: () => run?.sentBytes ?? 0, cutOff: () => run?.cutOff('too-slow') })
    try {
      run = await beginRun(deps, { ...visit.tenant, ...visit })
    } catch (error) {
      leave()
      throw error
    }
    const begun = run
    runs.add(begun)
    const end = (outcome: ExportOutcome) => {
      leave()
      runs.delete(begun)
      const ended = begun.end(outcome)
      ends.add(ended)
      return ended.finally(() => ends.delete(ended))
    }
    const leaveOff = () => begun.cutOff(visit.signal.reason instanceof Failure ? 'stopped' : 'reader-gone')
    visit.signal.addEventListener('abort', leaveOff, { once: true })
    if (visit.signal.aborted) leaveOff()
    try {
      return await send(deps, gate, { tenantId: visit.tenant.tenantId, run: begun, end })
    } catch (error) {
      await end(outcomeOf(error))
      throw error
    }
  }

  return {
    open,
    async close() {
      for (const run of runs) run.cutOff('stopped')
      await Promise.all([...runs].map((run) => run.end('stopped')))
      await Promise.all(ends)
    },
  }
}

interface Sending {
  readonly tenantId: TenantId
  readonly run: ExportRun
  end(outcome: ExportOutcome): Promise<void>
}

/** Rows go aside first, so that no reader holds the database at one moment; what is sent then is as fast as it is read. */
async function send(
  deps: AccountExportsDeps,
  gate: Gate,
  { tenantId, run, end }: Sending,
): Promise<Readable> {
  const tenant = await deps.getTenant(tenantId)
  const spool = await deps.spools.begin(run.signal)
  try {
    const rows = await spoolRows(deps, gate, { tenant, spool, run })
    const archive = streamArchive(async (sink) => {
      await spool.copyTo(sink)
      await spool.close()
      await exportBytes(deps, sink, tenant, rows)
    })
    return watch(deps, archive, { run, end, spool })
  } catch (error) {
    await spool.close()
    throw error
  }
}

async function spoolRows(
  deps: AccountExportsDeps,
  gate: Gate,
  { tenant, spool, run }: { tenant: HostedTenant; spool: Spool; run: ExportRun },
) {
  const leave = await gate.enter(String(tenant.tenantId), run.signal)
  const cancel = deps.clock.wakeAt(deps.clock.now() + rowsMs, () => run.cutOff('failed'))
  try {
    return await exportRows(deps, spool, tenant, { withKeys: false, withPassword: false })
  } finally {
    cancel()
    leave()
  }
}

function watch(
  { clock }: Pick<AccountExportsDeps, 'clock'>,
  archive: Readable,
  { run, end, spool }: Omit<Sending, 'tenantId'> & { readonly spool: Spool },
): Readable {
  let broken: ExportOutcome = 'reader-gone'
  const onTaken = (bytes: number) => {
    run.sentBytes += bytes
  }
  const watched = watchReader(archive, clock, { pieceMs, totalMs, onTaken })
  archive.once('error', (error) => {
    // Later errors only say that nobody reads it any more.
    if (!watched.destroyed) broken = outcomeOf(error)
  })
  const stop = () => void watched.destroy()
  run.signal.addEventListener('abort', stop, { once: true })
  if (run.signal.aborted) stop()
  watched.once('close', () => {
    run.signal.removeEventListener('abort', stop)
    void spool.close()
    void end(watched.readableEnded ? 'complete' : broken)
  })
  return watched
}

const ofFullDisk: readonly (string | undefined)[] = ['ENOSPC', 'EDQUOT', 'EROFS']

function outcomeOf(error: unknown): ExportOutcome {
  if (!(error instanceof Failure)) return 'failed'
  const isOfDisk = error.code === 'E-QUOTA' || error.code === 'E-TOOLARGE'
  return isOfDisk || ofFullDisk.includes(errorCode(error.cause)) ? 'disk-full' : 'failed'
}
