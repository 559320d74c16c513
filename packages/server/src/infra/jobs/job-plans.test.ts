import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type Kysely, type KyselyPlugin, SqliteQueryCompiler } from 'kysely'
import Type from 'typebox'
import { expect, onTestFinished, test } from 'vitest'
import { flushMicrotasks } from '#harness/jobs-lab.ts'
import { TestClock } from '#harness/test-clock.ts'
import {
  type Database,
  openDatabase,
  type Prepared,
  type Reader,
  serverTenant,
  type TenantId,
  type Writer,
} from '#infra/db/index.ts'
import {
  countByState,
  countQueued,
  JobVerdict,
  jobKind,
  jobsMigrations,
  listGroups,
  listJobs,
  openJobs,
  pageDead,
  pageUnfinished,
} from './index.ts'

const send = jobKind({
  name: 'send',
  payload: Type.Object({ host: Type.String() }),
  retry: { maxAttempts: 3, firstDelayMs: 1000, longestDelayMs: 10_000, giveUpAfterMs: 3600_000 },
  concurrency: 8,
  keepDoneMs: 10_000,
  group: { concurrency: 2, breakerFailures: 2, restMs: 600_000, longestRestMs: 600_000 },
})
const plain = jobKind({
  ...omitGroup(send),
  name: 'plain',
  freesDedupKey: true,
  keepsDedupKey: true,
})
const tenant = 7 as TenantId
const silent = { info: () => undefined, warn: () => undefined, error: () => undefined }

async function openFile() {
  const folder = await mkdtemp(join(tmpdir(), 'kith-plans-'))
  const path = join(folder, 'kith.db')
  const db = await openDatabase({
    url: `sqlite:${path}`,
    migrations: jobsMigrations,
  })
  onTestFinished(async () => {
    await db.close()
    await rm(folder, { recursive: true, force: true })
  })
  return { db, path }
}

/** How an index of the queue must be entered, so that only rows of the matter at hand are looked at. */
const entries: Readonly<Record<string, RegExp>> = {
  jobs_queue: /kind=\? AND group_key=\?/,
  jobs_ordered: /kind=\? AND ordering_key=\? AND state=\?/,
  jobs_new: /kind=\?/,
  jobs_leased: /kind=\?/,
  jobs_give_up: /kind=\? AND give_up_at_ms[<>]/,
  jobs_dedup: /tenant_id=\? AND kind=\? AND dedup_key=\?/,
  jobs_subject: /tenant_id=\? AND kind=\? AND subject=\?/,
  jobs_remove: /remove_at_ms</,
  job_groups_due: /kind=\? AND claim_at_ms[<>]/,
}

const allowedScans = [
  // Rows of the statement itself, or of an inner query with a limit.
  /^SCAN (\d+-ROW VALUES CLAUSE|CONSTANT ROW|queued|json_each VIRTUAL TABLE INDEX 1:)$/,
  // One row per kind.
  /^SCAN of$/,
  // One row per process, and one per host, once a minute.
  /^SCAN job_(leases|groups)$/,
  // Newest first, with a limit.
  /^SCAN jobs USING INDEX jobs_dead$/,
  // What `countByState` counts and `pageUnfinished` sorts, in the index alone.
  /^SCAN jobs USING COVERING INDEX jobs_(queue|dead)$/,
]

function isCheap(line: string): boolean {
  if (line.startsWith('SCAN')) return allowedScans.some((allowed) => allowed.test(line))
  if (line.startsWith('USE TEMP B-TREE')) return line.endsWith('GROUP BY')
  const [, index, terms] = /^SEARCH .* USING (?:COVERING )?INDEX (\w+) \((.*)\)$/.exec(line) ?? []
  if (index !== undefined && terms !== undefined) return entries[index]?.test(terms) ?? false
  return true
}

/** Sorts entries of the index of unfinished jobs, and looks at no row. */
function isSortedIndex(lines: readonly string[]): boolean {
  return lines.join() === 'SCAN jobs USING COVERING INDEX jobs_queue,USE TEMP B-TREE FOR ORDER BY'
}

test('no statement looks at jobs that are none of its business', async () => {
  const { db: file, path } = await openFile()
  const statements = new Set<string>()
  await runEverything(recording(file, statements))
  const explainer = new DatabaseSync(path)
  onTestFinished(() => explainer.close())
  const plans = [...statements].map((statement) => ({
    statement,
    lines: explainer
      .prepare(`explain query plan ${statement}`)
      .all()
      .map(({ detail }) => String(detail)),
  }))
  const expensive = plans.filter(({ lines }) => !lines.every(isCheap) && !isSortedIndex(lines))
  expect(expensive).toEqual([])
  const used = new Set(
    plans.flatMap(({ lines }) => lines.flatMap((line) => /INDEX (job\w+)/.exec(line)?.[1] ?? [])),
  )
  expect([...used].sort()).toEqual([...Object.keys(entries), 'jobs_dead'].sort())
})

/** Brings the queue to run each of its statements. */
async function runEverything(db: Database): Promise<void> {
  const clock = new TestClock()
  const jobs = openJobs({ db, clock, logger: silent, nodeId: 'a' })
  const begun = Promise.withResolvers<void>()
  const handle = async ({ host }: { host: string }) => {
    if (host === 'down') throw new Error('down')
    if (host === 'never') throw new JobVerdict('never', { kind: 'dead' })
    if (host !== 'endless') return
    begun.resolve()
    await new Promise(() => undefined)
  }
  jobs.handle(send, handle)
  jobs.handle(plain, handle)
  await jobs.start()
  await db.transact(tenant, async (tx) => {
    for (const host of ['down', 'up', 'never', 'down', 'up', 'down']) {
      await jobs.enqueue(tx, send, { host }, { groupKey: host, orderingKey: host, subject: 's' })
      await jobs.enqueue(tx, plain, { host }, { dedupKey: host, subject: 's' })
    }
  })
  for (let hours = 0; hours < 3; hours += 1) {
    await jobs.settle()
    clock.advance(3600_000)
  }
  await jobs.settle()
  const server = db.reader(serverTenant)
  await listJobs(db.reader(tenant), { kind: 'send', subject: 's' })
  await pageDead(server, { limit: 10 })
  await pageUnfinished(server, { limit: 10 })
  await listGroups(server, { kind: 'send', limit: 10 })
  await countQueued(server, { kind: 'send', groupKey: 'down', atMost: 10 })
  await countByState(server)
  await db.transact(tenant, (tx) => jobs.enqueue(tx, plain, { host: 'endless' }))
  await begun.promise
  let isStopped = false
  const stopped = jobs.stop().finally(() => {
    isStopped = true
  })
  // Its lease is renewed, and at last it is given back.
  while (!isStopped) {
    clock.advance(1000)
    await flushMicrotasks(2)
  }
  await stopped
}

function omitGroup({ group: _, ...kind }: typeof send) {
  return kind
}

/** The same database, noting the text of each statement. */
function recording(db: Database, statements: Set<string>): Database {
  const compiler = new SqliteQueryCompiler()
  const plugin: KyselyPlugin = {
    transformQuery({ node, queryId }) {
      statements.add(compiler.compileQuery(node, queryId).sql)
      return node
    },
    transformResult: async ({ result }) => result,
  }
  const note = <Values, Row>(prepared: Prepared<Values, Row>) => {
    statements.add(prepared.build('sqlite').compile().sql)
    return prepared
  }
  const recordReader = (reader: Reader): Reader => ({
    tenantId: reader.tenantId,
    dialect: reader.dialect,
    tables: <Tables>() => (reader.tables<Tables>() as Kysely<Tables>).withPlugin(plugin),
    run: (prepared, values) => reader.run(note(prepared), values),
    first: (prepared, values) => reader.first(note(prepared), values),
  })
  const recordWriter = (tx: Writer): Writer => ({
    ...recordReader(tx),
    tables: <Tables>() => (tx.tables<Tables>() as Kysely<Tables>).withPlugin(plugin),
    change: (prepared, values) => tx.change(note(prepared), values),
    afterCommit: (effect) => tx.afterCommit(effect),
    as: (tenantId) => recordWriter(tx.as(tenantId)),
  })
  return {
    dialect: db.dialect,
    reader: (tenantId) => recordReader(db.reader(tenantId)),
    transact: (tenantId, work, options) => db.transact(tenantId, (tx) => work(recordWriter(tx)), options),
    snapshot: (read) => db.snapshot(read),
    ping: () => db.ping(),
    sizeBytes: () => db.sizeBytes(),
    integrityCheck: () => db.integrityCheck(),
    backup: (path) => db.backup(path),
    close: () => db.close(),
  }
}
