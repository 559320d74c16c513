import { createSecretKey, randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { IdTag } from '@kith/protocol'
import { afterAll, afterEach } from 'vitest'
import { type FileParts, openFileFeatures } from '#app/file-features.ts'
import { accountsMigrations, makeReference } from '#features/accounts/index.ts'
import { actionsMigrations } from '#features/actions/index.ts'
import { federationMigrations } from '#features/federation/index.ts'
import {
  type FileEvent,
  filesMigrations,
  type ShareNotice,
  type StorageLimits,
} from '#features/files/index.ts'
import { relationsMigrations } from '#features/relations/index.ts'
import type { HostedTenant } from '#features/tenants/index.ts'
import { openDiskBlobs } from '#infra/blobs/index.ts'
import type { Tenant } from '#infra/caller/index.ts'
import { FreshPaths } from '#infra/disk/index.ts'
import { type Images, openImages } from '#infra/images/index.ts'
import { jobsMigrations, openJobs } from '#infra/jobs/index.ts'
import { openVault } from '#infra/keys/index.ts'
import { openPartialFiles } from '#infra/partials/index.ts'
import { silentLogger } from '#infra/telemetry/index.ts'
import type { OpenTestDatabase } from './each-dialect.ts'
import { FakeContents } from './fake-contents.ts'
import { alice, aliceTag, bob, club, holder } from './files-people.ts'
import { filesRows } from './files-rows.ts'
import { openFilesSite } from './files-site.ts'
import { TestClock } from './test-clock.ts'

export * from './files-people.ts'
export { failureOf, type Received, type Sent } from './files-site.ts'

const unlimited: StorageLimits = { maxFileBytes: 100_000_000, maxStorageBytes: 0 }
const migrations = [
  ...jobsMigrations,
  ...federationMigrations,
  ...relationsMigrations,
  ...actionsMigrations,
  ...filesMigrations,
  ...accountsMigrations,
]

/** The files of three tenants behind a real HTTP server, on a real disk and a real database. Call it inside a suite of
 * `eachDialect`. */
export function filesLab(open: OpenTestDatabase) {
  const desk = sharedImages()
  const closers: (() => Promise<unknown>)[] = []
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close()
  })
  return async (limits: Partial<StorageLimits> = {}) => {
    const lab = await openLab(open, await desk(), { ...unlimited, ...limits })
    closers.push(lab.close)
    return lab
  }
}

/** One worker for the whole suite: to start it takes longer than the pictures do. */
function sharedImages() {
  const open = async () => {
    const tempDir = await mkdtemp(join(tmpdir(), 'kith-pictures-'))
    return { tempDir, images: await openImages({ tempDir, logger: silentLogger }) }
  }
  let opened: ReturnType<typeof open> | undefined
  afterAll(async () => {
    const desk = await opened
    await desk?.images.close()
    if (desk) await rm(desk.tempDir, { recursive: true })
  })
  return () => {
    opened ??= open()
    return opened
  }
}

interface Pictures {
  readonly images: Images
  readonly tempDir: string
}

export type FilesLab = Awaited<ReturnType<typeof openLab>>

/** What the program opens before its features, in a folder. */
async function openLabServices(open: OpenTestDatabase, pictures: Pictures, dir: string) {
  const clock = new TestClock()
  const logger = silentLogger
  const db = await open({ migrations, clock })
  return {
    ...pictures,
    clock,
    logger,
    db,
    blobs: await openDiskBlobs({ dir: join(dir, 'blobs'), clock, logger }),
    partials: await openPartialFiles({ dir: join(dir, 'uploads'), clock, logger }),
    jobs: openJobs({ db, clock, logger, nodeId: 'lab' }),
    vault: openVault({ masterKey: createSecretKey(randomBytes(32)) }),
    freshPaths: new FreshPaths(clock),
    egress: { request: () => Promise.reject(new Error('a lab asks nobody')) } as never,
  }
}

/** What other features would say, and what they were told: `events` are the changes of files. */
function fakeFeatures(settings: { limits: StorageLimits }) {
  const contents = {
    CRDT: new FakeContents('application/x-crdt'),
    RTDB: new FakeContents('application/x-ndjson'),
  }
  const events: FileEvent[] = []
  const notices: ShareNotice[] = []
  const parts: FileParts = {
    emit: async (tx, event) => {
      if (event.kind === 'file.updated') tx.afterCommit(() => events.push(event))
    },
    tenants: {
      findById: async (id) => [alice, bob, club].find(({ tenantId }) => tenantId === id) as HostedTenant,
    },
    limitsOf: async () => settings.limits,
    imageFormatOf: async () => 'webp',
    tierOf: async () => 'free',
    findNames: async () => new Map([[aliceTag, 'Alice']]),
    contents,
    recall: () => Promise.reject(new Error('a lab has no credentials')),
    serverUrlOf: ({ idTag }) => `https://${idTag}`,
    findServer: async () => ({ kind: 'unknown' }),
    proxyToken: async () => 'proxy-token',
  }
  const telling = {
    prepareFileShare: async (notice: ShareNotice) => async (tx: { afterCommit(effect: () => void): void }) =>
      tx.afterCommit(() => notices.push(notice)),
    onTried: async () => undefined,
  }
  return { parts, telling, contents, events, notices }
}

async function openLab(open: OpenTestDatabase, pictures: Pictures, limits: StorageLimits) {
  const dir = await mkdtemp(join(tmpdir(), 'kith-files-'))
  const services = await openLabServices(open, pictures, dir)
  const { clock, db, jobs, partials } = services
  const settings = { limits }
  const { parts, telling, contents, events, notices } = fakeFeatures(settings)
  const files = openFileFeatures(services, parts)
  const endpoints = files.wire(telling)
  await jobs.start()
  const site = await openFilesSite(endpoints, clock)
  return {
    ...site,
    ...filesRows(db, clock, dir),
    ...{ clock, db, dir, jobs, settings, partials, contents, events, notices },
    deps: files.deps,
    shareDeps: { ...files.deps, ...telling },
    reads: files.reads,
    /** The token of a reference to a file, as its exchange gives it. */
    async makeHolder(
      fileId: string,
      level: 'read' | 'write' = 'read',
      options: { by?: IdTag; at?: Tenant } = {},
    ) {
      const { by = aliceTag, at = alice } = options
      const reference = { type: 'share.file', resourceId: fileId, accessLevel: level, createdBy: by } as const
      const { refId } = await db.transact(at.tenantId, (tx) => makeReference(files.deps, tx, reference))
      return holder(`file:${fileId}:${level}`, refId)
    },
    settle: () => jobs.settle(),
    close: async () => {
      await site.stop()
      await jobs.stop()
      await files.close()
      await rm(dir, { recursive: true, force: true })
    },
  }
}
