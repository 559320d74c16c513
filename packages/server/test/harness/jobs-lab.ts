import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach } from 'vitest'
import { type Database, type Migration, serverTenant, type TenantId } from '#infra/db/index.ts'
import {
  type EnqueueOptions,
  type JobKind,
  type JobQueue,
  type JobRecord,
  jobsMigrations,
  listJobs,
  openJobs,
  pageDead,
  type RunnerOptions,
} from '#infra/jobs/index.ts'
import type { OpenTestDatabase } from './each-dialect.ts'
import { TestClock } from './test-clock.ts'

/** One process of a server on the lab's database. */
export interface LabNode {
  readonly jobs: JobQueue
  /** From now on it cannot reach the database, like a process that was killed; its handlers may still end. */
  crash(): void
  /** Ends what `crash` began: the database was only away. */
  recover(): void
  /** Stops it, moving the clock as far as that needs. */
  stop(): Promise<void>
}

/** A database with jobs, a clock that is moved by hand, and any number of nodes. */
export interface JobsLab {
  readonly db: Database
  readonly clock: TestClock
  readonly logged: { readonly level: string; readonly message: string; readonly details: object }[]
  /** A node that is not started: register handlers, then `await node.jobs.start()`. */
  addNode(nodeId: string, options?: Partial<RunnerOptions>): LabNode
  enqueue(kind: JobKind, payload: unknown, options?: EnqueueOptions & { tenantId?: TenantId }): Promise<void>
  list(kind: JobKind, subject: string, tenantId?: TenantId): Promise<JobRecord[]>
  listDead(): Promise<readonly JobRecord[]>
}

export const someTenant = 7 as TenantId
export const otherTenant = 8 as TenantId

/** Inside a suite of `eachDialect`: what it opens is stopped after each test. */
export function jobsLab(
  open: OpenTestDatabase,
  migrations: readonly Migration[] = jobsMigrations,
): () => Promise<JobsLab> {
  const nodes: LabNode[] = []
  afterEach(async () => {
    for (const node of nodes.splice(0)) await node.stop()
  })
  return async () => {
    const db = await open({ migrations })
    const clock = new TestClock()
    const logged: JobsLab['logged'][number][] = []
    const log = (level: string) => (details: object, message: string) => {
      logged.push({ level, message, details })
    }
    const logger = { info: log('info'), warn: log('warn'), error: log('error') }
    const enqueuer = openJobs({ db, clock, logger, nodeId: 'enqueuer' })
    return {
      db,
      clock,
      logged,
      addNode(nodeId, options = {}) {
        const node = startableNode(
          { db, clock, logger, nodeId, random: () => 0.5, leaseMs: 10_000, ...options },
          clock,
        )
        nodes.push(node)
        return node
      },
      async enqueue(kind, payload, { tenantId = someTenant, ...options } = {}) {
        await db.transact(tenantId, (tx) => enqueuer.enqueue(tx, kind, payload, options))
      },
      list: (kind, subject, tenantId = someTenant) =>
        listJobs(db.reader(tenantId), { kind: kind.name, subject }),
      listDead: async () => (await pageDead(db.reader(serverTenant), { limit: 100 })).items,
    }
  }
}

function startableNode(options: RunnerOptions, clock: TestClock): LabNode {
  let isCrashed = false
  const { db } = options
  const refuse = () => Promise.reject(new Error('This node has crashed'))
  const reachable: Database = {
    dialect: db.dialect,
    reader: (tenantId) => {
      if (isCrashed) throw new Error('This node has crashed')
      return db.reader(tenantId)
    },
    transact: (tenantId, work, how) => (isCrashed ? refuse() : db.transact(tenantId, work, how)),
    snapshot: (read) => db.snapshot(read),
    ping: () => db.ping(),
    sizeBytes: () => db.sizeBytes(),
    integrityCheck: () => db.integrityCheck(),
    backup: (path) => db.backup(path),
    close: () => db.close(),
  }
  const jobs = openJobs({ ...options, db: reachable })
  let stopping: Promise<void> | undefined
  return {
    jobs,
    crash: () => {
      isCrashed = true
    },
    recover: () => {
      isCrashed = false
    },
    async stop() {
      let isStopped = false
      stopping ??= jobs.stop()
      const stopped = stopping.finally(() => {
        isStopped = true
      })
      while (!isStopped) {
        clock.advance(1000)
        await nextTurn()
      }
      await stopped
    },
  }
}

/** Lets promises and handlers go on until they wait for something outside. */
export async function flushMicrotasks(turns = 20): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) await nextTurn()
}

/** Lets `ms` pass in small steps, with everything that is due in between. */
export async function settleFor(
  jobs: { settle(): Promise<void> },
  clock: { now(): number; advance(ms: number): void },
  ms: number,
): Promise<void> {
  const untilMs = clock.now() + ms
  await jobs.settle()
  while (clock.now() < untilMs) {
    clock.advance(Math.min(500, untilMs - clock.now()))
    await jobs.settle()
  }
}

/** Lets `ms` pass at once. */
export async function jump(
  jobs: { settle(): Promise<void> },
  clock: { advance(ms: number): void },
  ms: number,
): Promise<void> {
  clock.advance(ms)
  await jobs.settle()
}
