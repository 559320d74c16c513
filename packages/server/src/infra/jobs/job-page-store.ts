import { type CursorPage, decodeCursor, encodeCursor } from '@kith/protocol'
import { sql } from 'kysely'
import { keysetPage, type Reader } from '#infra/db/index.ts'
import { invalid } from '#lib/failure.ts'
import { assertServer, type JobRecord, toRecord } from './job-list-store.ts'
import { inQueueOrder, type JobState, type JobTables, jobColumns } from './job-tables.ts'

interface Page {
  readonly limit: number
  readonly cursor?: string | undefined
}

const unfinished = 'unfinished'
const newestFirst = {
  sort: 'jobId',
  column: 'jobs.job_id',
  kind: 'integer',
  idColumn: 'jobs.job_id',
  idKind: 'integer',
} as const

/** The dead jobs of all tenants, newest first; only for a reader of the server itself. */
export async function pageDead(reader: Reader, { limit, cursor }: Page): Promise<CursorPage<JobRecord>> {
  assertServer(reader)
  const dead = jobs(reader).where('state', '=', sql.lit<JobState>('dead'))
  const { items, nextCursor } = await keysetPage(dead, newestFirst, { direction: 'desc', limit, cursor })
  return { items: items.map(toRecord), nextCursor }
}

/** The same for jobs that are not finished, running ones included. It sorts index entries of these, as many as there are. */
export async function pageUnfinished(
  reader: Reader,
  { limit, cursor }: Page,
): Promise<CursorPage<JobRecord>> {
  assertServer(reader)
  const before = cursor === undefined ? Number.MAX_SAFE_INTEGER : decodeCursor(cursor, unfinished)?.v
  if (typeof before !== 'number') throw invalid('/query/cursor', 'is not a cursor of this list')
  const found = await reader
    .tables<JobTables>()
    .selectFrom('jobs')
    .select('job_id')
    .where('remove_at_ms', 'is', null)
    .where(inQueueOrder('jobs'), '<', before)
    .orderBy(inQueueOrder('jobs'), 'desc')
    .limit(limit + 1)
    .execute()
  const jobIds = found.slice(0, limit).map(({ job_id }) => job_id)
  const last = found.length > limit ? jobIds.at(-1) : undefined
  const rows = jobIds.length === 0 ? [] : await jobs(reader).where('job_id', 'in', jobIds).execute()
  const items = rows.sort((one, other) => other.jobId - one.jobId).map(toRecord)
  const nextCursor = last === undefined ? null : encodeCursor({ s: unfinished, v: last, id: String(last) })
  return { items, nextCursor }
}

function jobs(reader: Reader) {
  return reader.tables<JobTables>().selectFrom('jobs').select(jobColumns)
}

interface OpenJob {
  readonly jobId: number
  readonly kind: string
  /** JSON. */
  readonly payload: string
  readonly runAtMs: number
}

/** The unfinished jobs of the reader's tenant in the order they were added; go on after the last `jobId`. */
export async function listOpenJobs(
  reader: Reader,
  { after, limit }: { readonly after: number; readonly limit: number },
): Promise<OpenJob[]> {
  return reader
    .tables<JobTables>()
    .selectFrom('jobs')
    .select(['job_id as jobId', 'kind', 'payload', 'run_at_ms as runAtMs'])
    .where('tenant_id', '=', reader.tenantId)
    .where('remove_at_ms', 'is', null)
    .where('job_id', '>', after)
    .orderBy('job_id')
    .limit(limit)
    .execute()
}
