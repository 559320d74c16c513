import { createSecretKey, randomBytes } from 'node:crypto'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { type ClientRequest, request as httpRequest, type IncomingHttpHeaders } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import {
  type CommunityRole,
  type FileId,
  type IdTag,
  parseScope,
  type RefId,
  type Visibility,
} from '@kith/protocol'
import { afterAll, afterEach } from 'vitest'
import { accountsMigrations, makeReference } from '#features/accounts/index.ts'
import { actionsMigrations } from '#features/actions/index.ts'
import {
  ActiveUploads,
  collectionEndpoints,
  endSharesOfFiles,
  type FileEndpointDeps,
  fileEndpoints,
  filesMigrations,
  makeVariants,
  makeVariantsJob,
  RecentReads,
  removeItems,
  reviewShares,
  reviewSharesJob,
  type ShareEndpointDeps,
  type ShareNotice,
  ShareSweep,
  type StorageLimits,
  type SweepSharesDeps,
  shareEndpoints,
  sweepSharesJob,
  sweepUploads,
  sweepUploadsJob,
  UploadLeases,
  uploadEndpoints,
  withdrawShare,
  withdrawShareJob,
} from '#features/files/index.ts'
import { changeRelation, relationsMigrations } from '#features/relations/index.ts'
import { openDiskBlobs } from '#infra/blobs/index.ts'
import { type Caller, guest, type Tenant } from '#infra/caller/index.ts'
import { type Database, serverTenant, type TenantId } from '#infra/db/index.ts'
import { FreshPaths } from '#infra/disk/index.ts'
import { createHttpServer, createMemoryRateLimits, type Endpoint } from '#infra/http/index.ts'
import { openImages } from '#infra/images/index.ts'
import { jobsMigrations, openJobs } from '#infra/jobs/index.ts'
import { openVault } from '#infra/keys/index.ts'
import { openPartialFiles } from '#infra/partials/index.ts'
import { Failure } from '#lib/failure.ts'
import type { OpenTestDatabase } from './each-dialect.ts'
import { TestClock } from './test-clock.ts'

export const aliceTag = 'alice.example' as IdTag
export const bobTag = 'bob.example' as IdTag
export const clubTag = 'club.example' as IdTag

export const alice: Tenant = { tenantId: 1 as TenantId, idTag: aliceTag, type: 'person' }
export const bob: Tenant = { tenantId: 2 as TenantId, idTag: bobTag, type: 'person' }
export const club: Tenant = { tenantId: 3 as TenantId, idTag: clubTag, type: 'community' }

const unlimited: StorageLimits = { maxFileBytes: 100_000_000, maxStorageBytes: 0 }
const quiet = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

/** An identity, on whatever host: its owner there, or a member with this role. */
export function identity(
  idTag: IdTag,
  tenant: Tenant,
  options: { role?: CommunityRole; scope?: string; sessionId?: string } = {},
): Caller {
  const isOwner = idTag === tenant.idTag
  const { role = isOwner ? 'leader' : 'public', scope, sessionId } = options
  const parsed = scope === undefined ? undefined : parseScope(scope)
  const rights = { tokenUse: 'login', scope: parsed, role, isOwner, isAdmin: false } as const
  return { kind: 'identity', idTag, ...rights, ...(sessionId === undefined ? {} : { sessionId }) }
}

/** A guest who holds nothing but the token of a reference, which may be gone. */
export function holder(scope: string, refId = '0123456789ABCDEFabcdefgh'): Caller {
  return { kind: 'reference', refId: refId as RefId, scope: parseScope(scope) ?? [] }
}

export interface Sent {
  readonly at?: Tenant
  readonly as?: Caller
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Uint8Array | string | Readable
  readonly json?: unknown
}

export interface Received {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
  /** The parsed body. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look at what they expect to be there
  readonly json: any
}

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
    return { tempDir, images: await openImages({ tempDir, logger: quiet }) }
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

type Pictures = Pick<FileEndpointDeps, 'images' | 'tempDir'>

export type FilesLab = Awaited<ReturnType<typeof openLab>>

async function openLab(open: OpenTestDatabase, pictures: Pictures, limits: StorageLimits) {
  const clock = new TestClock()
  const dir = await mkdtemp(join(tmpdir(), 'kith-files-'))
  const db = await open({
    migrations: [
      ...jobsMigrations,
      ...relationsMigrations,
      ...actionsMigrations,
      ...filesMigrations,
      ...accountsMigrations,
    ],
    clock,
  })
  const blobs = await openDiskBlobs({ dir: join(dir, 'blobs'), clock, logger: quiet })
  const partialsDir = join(dir, 'uploads')
  const partials = await openPartialFiles({ dir: partialsDir, clock, logger: quiet })
  const jobs = openJobs({ db, clock, logger: quiet, nodeId: 'lab' })
  const settings = { limits }
  const reads = new RecentReads(db, clock)
  const copied: [FileId, FileId][] = []
  const notices: ShareNotice[] = []
  const shareDeps: ShareEndpointDeps & SweepSharesDeps = {
    db,
    clock,
    jobs,
    vault: openVault({ masterKey: createSecretKey(randomBytes(32)) }),
    emit: async () => undefined,
    serverUrlOf: ({ idTag }) => `https://${idTag}`,
    findTenant: async (tenantId) => [alice, bob, club].find((tenant) => tenant.tenantId === tenantId),
    prepareFileShare: async (notice) => async (tx) => tx.afterCommit(() => notices.push(notice)),
  }
  const deps: FileEndpointDeps = {
    db,
    clock,
    blobs,
    ...pictures,
    freshPaths: new FreshPaths(clock),
    leases: new UploadLeases({ db, clock }),
    emit: async () => undefined,
    jobs,
    limitsOf: async () => settings.limits,
    imageFormatOf: async () => 'webp',
    tierOf: async () => 'free',
    findNames: async () => new Map([[aliceTag, 'Alice']]),
    noteRead: (read) => reads.note(read),
    copyContent: async (tx, from, to) => tx.afterCommit(() => copied.push([from.fileId, to.fileId])),
    async beforeRemoval(tx, fileIds) {
      await endSharesOfFiles(shareDeps, tx, fileIds)
      await removeItems(tx, fileIds)
    },
  }
  jobs.handle(withdrawShareJob, (payload, context) => withdrawShare(shareDeps, payload, context))
  jobs.handle(reviewSharesJob, (_, context) => reviewShares(shareDeps, context))
  const sweep = new ShareSweep(shareDeps)
  jobs.handle(sweepSharesJob, () => sweep.run())
  jobs.handle(makeVariantsJob, (payload, context) => makeVariants(deps, payload, context))
  const { findTenant } = shareDeps
  jobs.handle(sweepUploadsJob, () => sweepUploads({ db, clock, partials, findTenant }))
  await jobs.start()
  const endpoints = [
    ...fileEndpoints(deps),
    ...uploadEndpoints({ ...deps, partials, turns: new ActiveUploads() }),
    ...shareEndpoints(shareDeps),
    ...collectionEndpoints(deps),
  ]
  const site = await openSite(endpoints, clock)
  return {
    ...site,
    ...storage(db, clock, join(dir, 'blobs')),
    clock,
    db,
    deps,
    dir,
    shareDeps,
    jobs,
    reads,
    /** Documents and databases whose content was asked to be copied. */
    copied,
    /** What identities were told of shares. */
    notices,
    /** The token of a reference to a file, as its exchange gives it. */
    async makeHolder(
      fileId: string,
      level: 'read' | 'write' = 'read',
      options: { by?: IdTag; at?: Tenant } = {},
    ) {
      const { by = aliceTag, at = alice } = options
      const reference = { type: 'share.file', resourceId: fileId, accessLevel: level, createdBy: by } as const
      const { refId } = await db.transact(at.tenantId, (tx) => makeReference(shareDeps, tx, reference))
      return holder(`file:${fileId}:${level}`, refId)
    },
    settings,
    partials,
    /** Uploads that are remembered, and files of bytes that have arrived for them. */
    async unfinished() {
      const uploads = await db
        .reader(serverTenant)
        .tables<LabTables>()
        .selectFrom('uploads')
        .selectAll()
        .execute()
      return { uploads: uploads.length, files: await filesBelow(partialsDir) }
    },
    settle: () => jobs.settle(),
    close: async () => {
      await site.stop()
      await jobs.stop()
      await rm(dir, { recursive: true, force: true })
    },
  }
}

async function openSite(endpoints: readonly Endpoint[], clock: TestClock) {
  // By bearer; as many as a test has callers.
  const known = new Map<string, Caller>()
  const tenants = new Map([alice, bob, club].map((tenant) => [tenant.idTag as string, tenant]))
  const errors: unknown[] = []
  const warnings: unknown[] = []
  const http = createHttpServer({
    endpoints,
    rawRoutes: [],
    hooks: {
      findTenant: (host) => tenants.get(host),
      authenticate({ tenant, bearer }) {
        const caller = known.get(`${tenant.idTag} ${bearer}`)
        if (!caller) throw new Failure('E-AUTH-UNAUTH')
        return { caller }
      },
    },
    rateLimits: createMemoryRateLimits(clock, everything),
    clock,
    logger: { warn: (fields) => warnings.push(fields), error: (fields) => errors.push(fields) },
    cors: [],
    trustedProxies: [],
  })
  const { port } = await http.listen({ host: '127.0.0.1', port: 0 })
  const bearerOf = (caller: Caller, at: Tenant) => {
    const bearer = randomBytes(9).toString('base64url')
    known.set(`${at.idTag} ${bearer}`, caller)
    return bearer
  }

  /** A request that the test sends and ends by itself. */
  function begin(method: string, path: string, sent: Omit<Sent, 'body' | 'json'> = {}): ClientRequest {
    const { at = alice, as = guest, headers } = sent
    const authorization = as.kind === 'guest' ? {} : { authorization: `Bearer ${bearerOf(as, at)}` }
    return httpRequest({
      host: '127.0.0.1',
      port,
      path,
      method,
      agent: false,
      headers: { host: at.idTag, ...authorization, ...headers },
    })
  }

  async function send(method: string, path: string, sent: Sent = {}): Promise<Received> {
    const { json } = sent
    const headers = { ...(json === undefined ? {} : { 'content-type': 'application/json' }), ...sent.headers }
    const request = begin(method, path, { ...sent, headers })
    const { promise, resolve, reject } = Promise.withResolvers<Received>()
    request.once('error', reject)
    request.once('response', (response) => {
      buffer(response).then((body) => {
        const isJson = response.headers['content-type']?.startsWith('application/json') && body.length > 0
        const parsed: unknown = isJson ? JSON.parse(body.toString()) : undefined
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body, json: parsed })
      }, reject)
    })
    const body = json === undefined ? sent.body : JSON.stringify(json)
    if (body === undefined || typeof body === 'string' || body instanceof Uint8Array) request.end(body)
    else body.pipe(request)
    return promise
  }

  return {
    begin,
    send,
    bearerOf,
    /** What the server logged as bugs. */
    errors,
    warnings,
    async stop() {
      http.server.closeAllConnections()
      await http.stop()
    },
    async upload(
      name: string,
      body: Uint8Array | string,
      sent: Sent & { query?: string; preset?: string } = {},
    ) {
      const { query = '', preset = 'default', as = identity(aliceTag, alice), ...rest } = sent
      const path = `/api/files/${preset}/${encodeURIComponent(name)}${query}`
      return send('POST', path, { as, body, ...rest })
    },
  }
}

const everything = new Proxy({} as Parameters<typeof createMemoryRateLimits>[1], { get: () => 1e9 })

interface LabTables {
  files: {
    tenant_id: number
    file_id: string
    file_tp: string
    status: string
    parent_id: string | null
    blob_hash: string | null
  }
  file_variants: { tenant_id: number; blob_hash: string }
  blobs: { tenant_id: number; blob_hash: string; uses: number; size: number; unused_since: number | null }
  storage_reservations: { tenant_id: number; reservation_id: string; bytes: number; expires_at: number }
  blob_claims: { tenant_id: number; reservation_id: string; blob_hash: string }
  jobs: { tenant_id: number; kind: string }
  actions: Record<string, string | number | null>
  action_attachments: { tenant_id: number; file_id: string; action_id: string; issuer_tag: string }
  storage_usage: { tenant_id: number; used_bytes: number; files: number }
  uploads: { tenant_id: number; upload_id: string }
}

/** Looks at what is stored, past every rule, and puts there what other features would. */
function storage(db: Database, clock: TestClock, blobDir: string) {
  const tables = (tenant: Tenant) => db.reader(tenant.tenantId).tables<LabTables>()
  let actions = 0
  return {
    /** Everything that an upload could leave behind. */
    async remains(tenant = alice) {
      const at = tenant.tenantId
      const rows = async (table: keyof LabTables) =>
        (await tables(tenant).selectFrom(table).select('tenant_id').where('tenant_id', '=', at).execute())
          .length
      return {
        files: await rows('files'),
        blobs: await rows('blobs'),
        reservations: await rows('storage_reservations'),
        claims: await rows('blob_claims'),
        jobs: await rows('jobs'),
        onDisk: await filesBelow(blobDir),
      }
    },
    /** What cannot be: files in what is no live folder, folders in each other, bytes counted wrongly. */
    async inconsistencies(tenant = alice): Promise<string[]> {
      const at = tenant.tenantId
      const files = await tables(tenant).selectFrom('files').selectAll().where('tenant_id', '=', at).execute()
      const byId = new Map(files.map((file) => [file.file_id, file]))
      const wrong: string[] = []
      for (const file of files) {
        const parent = file.parent_id === null ? undefined : byId.get(file.parent_id)
        if (file.parent_id !== null && parent?.file_tp !== 'FLDR')
          wrong.push(`${file.file_id} is in no folder`)
        if (parent && (parent.status === 'D') !== (file.status === 'D'))
          wrong.push(`${file.file_id} is half gone`)
        let above = parent
        for (let steps = 0; above && steps < 100; steps += 1)
          above = above.parent_id === null ? undefined : byId.get(above.parent_id)
        if (above) wrong.push(`${file.file_id} lies in itself`)
      }
      const variants = await tables(tenant)
        .selectFrom('file_variants')
        .select('blob_hash')
        .where('tenant_id', '=', at)
        .execute()
      const uses = new Map<string, number>()
      for (const { blob_hash } of [...files, ...variants])
        if (blob_hash !== null) uses.set(blob_hash, (uses.get(blob_hash) ?? 0) + 1)
      const blobs = await tables(tenant).selectFrom('blobs').selectAll().where('tenant_id', '=', at).execute()
      let bytes = 0
      for (const { blob_hash, uses: counted, size, unused_since } of blobs) {
        if (counted !== (uses.get(blob_hash) ?? 0)) wrong.push(`${blob_hash} has ${counted} uses`)
        if ((unused_since !== null) !== (counted === 0)) wrong.push(`${blob_hash} is unused or not`)
        if (counted > 0) bytes += size
      }
      const usage = await this.usage(tenant)
      if ((usage?.used_bytes ?? 0) !== bytes) wrong.push(`${usage?.used_bytes} bytes are counted of ${bytes}`)
      if ((usage?.files ?? 0) !== files.length)
        wrong.push(`${usage?.files} files are counted of ${files.length}`)
      return wrong
    },
    async usage(tenant = alice) {
      const query = tables(tenant).selectFrom('storage_usage').select(['used_bytes', 'files'])
      return await query.where('tenant_id', '=', tenant.tenantId).executeTakeFirst()
    },
    /** An action that the tenant holds, with files attached. */
    async putAction(
      tenant: Tenant,
      action: {
        visibility: Visibility
        attachments: readonly string[]
        issuer?: IdTag
        audienceTag?: IdTag
        status?: string
      },
    ): Promise<string> {
      actions += 1
      const actionId = `a1~${String(actions).padStart(42, 'A')}A`
      const { visibility, attachments, issuer = tenant.idTag, status = 'A' } = action
      await db.transact(tenant.tenantId, async (tx) => {
        const write = tx.tables<LabTables>()
        const row = {
          tenant_id: tx.tenantId,
          action_id: actionId,
          type: 'POST',
          issuer_tag: issuer,
          audience_tag: action.audienceTag ?? null,
          visibility,
        }
        const times = { created_at: 1, issued_at: 1 }
        await write
          .insertInto('actions')
          .values({ ...row, ...times, status })
          .execute()
        for (const fileId of attachments)
          await write
            .insertInto('action_attachments')
            .values({ tenant_id: tx.tenantId, file_id: fileId, action_id: actionId, issuer_tag: issuer })
            .execute()
      })
      return actionId
    },
    /** What a process leaves that dies between naming the bytes of every upload under way and the rows that use them. */
    async claimAsIfDying(hash: string, tenant = alice): Promise<void> {
      await db.transact(tenant.tenantId, async (tx) => {
        const write = tx.tables<LabTables>()
        const rows = await write.selectFrom('storage_reservations').selectAll().execute()
        for (const { tenant_id, reservation_id } of rows)
          await write
            .insertInto('blob_claims')
            .values({ tenant_id, reservation_id, blob_hash: hash })
            .execute()
        const inAnHour = Math.floor(clock.now() / 1000) + 3600
        await write.updateTable('storage_reservations').set({ expires_at: inAnHour }).execute()
      })
    },
    /** Puts a file into any folder, as was possible once. */
    async placeAsBefore(fileId: string, parentId: string, tenant = alice) {
      await db.transact(tenant.tenantId, async (tx) => {
        const files = tx.tables<LabTables>().updateTable('files').set({ parent_id: parentId })
        await files.where('tenant_id', '=', tx.tenantId).where('file_id', '=', fileId).execute()
      })
    },
    async relate(tenant: Tenant, idTag: IdTag, what: Parameters<typeof changeRelation>[2]) {
      await db.transact(tenant.tenantId, (tx) => changeRelation(tx, idTag, what))
    },
  }
}

async function filesBelow(dir: string): Promise<number> {
  const entries = await readdir(dir, { withFileTypes: true, recursive: true })
  return entries.filter((entry) => entry.isFile()).length
}
