import type { CommunityRole, FileId, IdTag, RefId, SharePermission, Visibility } from '@kith/protocol'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { accountsMigrations, makeReference } from '#features/accounts/index.ts'
import { actionsMigrations } from '#features/actions/index.ts'
import { federationMigrations } from '#features/federation/index.ts'
import { changeRelation, relationsMigrations } from '#features/relations/index.ts'
import { eachDialect } from '#harness/each-dialect.ts'
import { holder, identity } from '#harness/files-lab.ts'
import { TestClock } from '#harness/test-clock.ts'
import { type Caller, guest, type Tenant } from '#infra/caller/index.ts'
import type { Database, Reader, TenantId, Writer } from '#infra/db/index.ts'
import { jobsMigrations } from '#infra/jobs/index.ts'
import { listFilePage, listFilesFrom } from '../file-list-store.ts'
import { insertFile, updateFile } from '../file-store.ts'
import { filesMigrations } from '../files-migrations.ts'
import { restoreLeaves, restoreRoot, trashLeaves, trashRoot } from '../folders/file-tree-store.ts'
import { deleteFolderChanges, putFolderChange } from '../folders/folder-change-store.ts'
import { findAccessibleFile } from './file-access-store.ts'
import { findFileViewer } from './find-file-viewer.ts'

const now = 1_000_000
const hostTag = 'host.example' as IdTag
const bobTag = 'bob.example' as IdTag
const caraTag = 'cara.example' as IdTag
const strangers = [bobTag, caraTag]

interface ModelFile {
  /** An earlier one, which is a folder. */
  readonly parent: number | undefined
  readonly owner: IdTag
  readonly isCopy: boolean
  readonly visibility: Visibility
  readonly isTrashed: boolean
  /** Somebody other than its owner deleted it for good. */
  readonly isDiscarded: boolean
  /** The actions it is attached to. */
  readonly attachedTo: readonly { readonly visibility: Visibility; readonly issuer: IdTag }[]
}
type Shown = ModelFile['attachedTo'][number]
interface ModelShare {
  readonly file: number
  readonly to: { readonly person: IdTag } | { readonly readersOf: number }
  readonly permission: SharePermission
  readonly isExpired: boolean
}
interface World {
  readonly type: Tenant['type']
  readonly files: readonly ModelFile[]
  readonly shares: readonly ModelShare[]
  readonly bonds: Readonly<Record<string, 'none' | 'follower' | 'connected' | 'blocked'>>
  readonly roles: Readonly<Record<string, CommunityRole | undefined>>
  /** What the reference and the narrowed tokens are for. */
  readonly keyFile: number
  readonly keyLevel: 'read' | 'write'
  /** What is done between the reads. */
  readonly steps: readonly Step[]
}
interface Step {
  readonly kind: 'move' | 'trash' | 'restore'
  readonly file: number
  /** An earlier one, or none. */
  readonly to: number | undefined
  /** The change of what is in the folder is read before it is done. */
  readonly isHalf: boolean
}

const visibility = fc.constantFrom<Visibility>(null, null, 'P', 'V', 'F', 'C')
const permission = fc.constantFrom<SharePermission>('R', 'W', 'A')
const worlds: fc.Arbitrary<World> = fc.integer({ min: 2, max: 9 }).chain((count) => {
  const file = fc.nat(count - 1)
  const files = fc.tuple(
    ...Array.from({ length: count }, (_, at) =>
      fc.record({
        parent: at === 0 ? fc.constant(undefined) : fc.option(fc.nat(at - 1), { nil: undefined, freq: 3 }),
        owner: fc.constantFrom(hostTag, hostTag, ...strangers),
        isCopy: fc.boolean().map((value) => value && at % 3 === 0),
        visibility,
        isTrashed: fc.integer({ min: 0, max: 5 }).map((value) => value === 0),
        isDiscarded: fc.boolean(),
        attachedTo: fc.array(
          fc.record({ visibility, issuer: fc.constantFrom(hostTag, hostTag, ...strangers) }),
          { maxLength: 2 },
        ),
      }),
    ),
  )
  const share = fc.record({
    file,
    to: fc.oneof(fc.record({ person: fc.constantFrom(...strangers) }), fc.record({ readersOf: file })),
    permission,
    isExpired: fc.integer({ min: 0, max: 4 }).map((value) => value === 0),
  })
  const shares = fc.uniqueArray(share, {
    maxLength: 6,
    selector: ({ file, to }) => JSON.stringify([file, to]),
  })
  const step = fc.record({
    kind: fc.constantFrom<Step['kind']>('move', 'trash', 'restore'),
    file,
    to: fc.option(file, { nil: undefined, freq: 3 }),
    isHalf: fc.boolean(),
  })
  const bond = fc.constantFrom('none', 'follower', 'connected', 'blocked')
  const given = fc.constantFrom<CommunityRole>('public', 'follower', 'contributor', 'moderator')
  const role = fc.option(given, { nil: undefined })
  return fc.record({
    type: fc.constantFrom('person', 'community'),
    files,
    shares,
    bonds: fc.record({ [bobTag]: bond, [caraTag]: bond }),
    roles: fc.record({ [bobTag]: role, [caraTag]: role }),
    keyFile: file,
    keyLevel: fc.constantFrom('read', 'write'),
    steps: fc.array(step, { minLength: 2, maxLength: 4 }),
  })
})

/** Whoever looks, as the model knows them. */
interface ModelViewer {
  readonly idTag: IdTag | undefined
  readonly actsAsTenant: boolean
  readonly circles: readonly Visibility[]
  readonly contributes: boolean
  readonly held: Readonly<Record<number, number>>
}

const nobody: ModelViewer = {
  idTag: undefined,
  actsAsTenant: false,
  circles: ['P'],
  contributes: false,
  held: {},
}

function modelViewer(world: World, idTag: IdTag): ModelViewer {
  if (idTag === hostTag) return { ...nobody, idTag, actsAsTenant: true }
  const role = roleOf(world, idTag)
  if (world.type === 'community' && role === 'moderator') return { ...nobody, idTag, actsAsTenant: true }
  if (world.bonds[idTag] === 'blocked') return nobody
  const contributes = role === 'contributor'
  const follows = contributes || role === 'follower'
  return {
    ...nobody,
    idTag,
    circles: ['P', 'V', ...(follows ? (['F'] as const) : []), ...(contributes ? (['C'] as const) : [])],
    contributes,
  }
}

const roleByBond = {
  none: 'public',
  blocked: 'public',
  follower: 'follower',
  connected: 'contributor',
} as const

/** By what somebody was made in a community, else by what binds; a blocked identity has no role left. */
const roleOf = (world: World, idTag: IdTag): CommunityRole => {
  const bond = world.bonds[idTag] ?? 'none'
  const given = world.type === 'community' && bond !== 'blocked' ? world.roles[idTag] : undefined
  return given ?? roleByBond[bond]
}

const isGone = (world: World, at: number): boolean => {
  const file = world.files[at]
  if (!file) return false
  return file.isTrashed || (file.parent !== undefined && isGone(world, file.parent))
}

/** It, or what it went to the trash with. */
const isKeptFromOthers = (world: World, at: number): boolean => {
  const file = world.files[at]
  if (!file || !isGone(world, at)) return false
  if (file.isTrashed) return file.isDiscarded
  return file.parent !== undefined && isKeptFromOthers(world, file.parent)
}

function chainOf(world: World, at: number): number[] {
  const parent = world.files[at]?.parent
  return parent === undefined ? [at] : [at, ...chainOf(world, parent)]
}

/** A file with the folders that give it on: none gives on what is a copy. */
const giversOf = (world: World, at: number): number[] => {
  const chain = chainOf(world, at)
  const copy = chain.findIndex((above) => world.files[above]?.isCopy)
  return copy === -1 ? chain : chain.slice(0, copy + 1)
}

const levels = { R: 1, W: 2, A: 3 }

/** What a viewer may do with a file, said as simply as possible: who reads what is asked again until nothing changes. */
function modelLevel(world: World, viewer: ModelViewer, at: number): number {
  let readable = new Set<number>()
  while (true) {
    const levels = world.files.map((_, each) => levelGiven(world, viewer, each, readable))
    const next = new Set(world.files.keys().filter((each) => (levels[each] ?? 0) > 0 && !isGone(world, each)))
    if (next.size === readable.size) return levels[at] ?? 0
    readable = next
  }
}

function levelGiven(world: World, viewer: ModelViewer, at: number, readable: ReadonlySet<number>): number {
  const file = world.files[at]
  if (!file) return 0
  if (viewer.actsAsTenant) return 3
  const isOwner = !file.isCopy && file.owner === viewer.idTag
  if (isKeptFromOthers(world, at)) return isOwner && viewer.contributes ? 3 : 0
  const found = [
    isOwner ? (viewer.contributes ? 3 : 1) : 0,
    viewer.circles.includes(file.visibility) && file.visibility !== null ? 1 : 0,
    file.attachedTo.some((action) => isBy(action.issuer, file) && mayReadAction(world, viewer, action))
      ? 1
      : 0,
  ]
  for (const above of giversOf(world, at)) {
    found.push(viewer.held[above] ?? 0)
    for (const { file: shared, to, permission: given, isExpired } of world.shares) {
      if (shared !== above || isExpired) continue
      // Who reads a copy is said by actions from elsewhere.
      const isTo =
        'person' in to
          ? to.person === viewer.idTag
          : readable.has(to.readersOf) && !world.files[to.readersOf]?.isCopy
      found.push(isTo ? levels[given] : 0)
    }
  }
  const level = Math.max(...found)
  return isGone(world, at) && level < 2 ? 0 : level
}

/** Only its owner shows a file: for what is no copy, the tenant. */
const isBy = (issuer: IdTag, { isCopy, owner }: ModelFile) => issuer === (isCopy ? owner : hostTag)

/** What others sent to their followers is read by nobody else here, and visitors of a person read nothing that others
 * did not address to that person. */
const mayReadAction = (world: World, viewer: ModelViewer, { visibility: code, issuer }: Shown) => {
  if (viewer.idTag !== undefined && viewer.idTag === issuer) return true
  if (world.type === 'person' && issuer !== hostTag) return false
  const isForAll = code === 'P' || code === 'V' || issuer === hostTag
  return code !== null && isForAll && viewer.circles.includes(code)
}

const callersOf = (world: World, tenant: Tenant): [string, Caller, (at: number) => number][] => {
  const as = (idTag: IdTag, scope?: string) => {
    const role = world.type === 'community' && idTag !== hostTag ? { role: roleOf(world, idTag) } : {}
    return identity(idTag, tenant, { ...role, ...(scope === undefined ? {} : { scope }) })
  }
  const capped = (viewer: ModelViewer, most: number) => (at: number) =>
    Math.min(most, modelLevel(world, viewer, at))
  const key = `file:${fileIdAt(tenant, world.keyFile)}:${world.keyLevel}`
  const keyLevel = world.keyLevel === 'read' ? 1 : 2
  const narrowed = (idTag: IdTag) => (at: number) => {
    const own = modelLevel(world, modelViewer(world, idTag), at)
    const limit = chainOf(world, at).includes(world.keyFile) ? keyLevel : 0
    const open = Math.min(1, modelLevel(world, nobody, at))
    if (modelViewer(world, idTag).idTag === undefined) return open
    return limit === 0 ? open : Math.min(limit, own)
  }
  const held = world.files[world.keyFile]?.isCopy ? {} : { [world.keyFile]: keyLevel }
  const plain = (idTag: IdTag) =>
    capped(modelViewer(world, idTag), modelViewer(world, idTag).idTag === undefined ? 1 : 3)
  return [
    ['guest', guest, capped(nobody, 1)],
    ['owner', as(hostTag), plain(hostTag)],
    ['bob', as(bobTag), plain(bobTag)],
    ['cara', as(caraTag), plain(caraTag)],
    ['a reading bob', as(bobTag, 'read:files'), capped(modelViewer(world, bobTag), 1)],
    ['a writing owner', as(hostTag, 'write'), capped(modelViewer(world, hostTag), 2)],
    ['an owner for one file', as(hostTag, key), narrowed(hostTag)],
    ['a bob for one file', as(bobTag, key), narrowed(bobTag)],
    ['a holder', holder(key, 'made below'), capped({ ...nobody, held }, 2)],
  ]
}

const fileIdAt = (tenant: Tenant, at: number) =>
  `d1~${String(tenant.tenantId * 100 + at).padStart(42, 'A')}A` as FileId

eachDialect('Access to files', (open) => {
  test('is the same for lists, single reads and a naive model', async () => {
    const clock = new TestClock(now * 1000)
    const db = await open({
      migrations: [
        ...jobsMigrations,
        ...federationMigrations,
        ...relationsMigrations,
        ...actionsMigrations,
        ...filesMigrations,
        ...accountsMigrations,
      ],
      clock,
    })
    let tenants = 0
    await fc.assert(
      fc.asyncProperty(worlds, async (world) => {
        tenants += 1
        const tenant: Tenant = { tenantId: tenants as TenantId, idTag: hostTag, type: world.type }
        const holderRef = await store(db, clock, tenant, world)
        const look = (seen: World) =>
          expectAccess(db.reader(tenant.tenantId), tenant, { world: seen, holderRef })
        await look(world)
        await look(await takeSteps(db, tenant, world, look))
      }),
      { numRuns: open.runs(4) },
    )
  })
})

/** Lists, single reads and the model agree for all callers. */
async function expectAccess(
  reader: Reader,
  tenant: Tenant,
  { world, holderRef }: { readonly world: World; readonly holderRef: RefId },
): Promise<void> {
  for (const [name, told, modelOf] of callersOf(world, tenant)) {
    const caller = told.kind === 'reference' ? { ...told, refId: holderRef } : told
    const who = await findFileViewer(reader, { tenant, caller, now })
    const readable: string[] = []
    const inTrash: string[] = []
    for (const at of world.files.keys()) {
      const fileId = fileIdAt(tenant, at)
      const found = await findAccessibleFile(reader, who, { fileId, now })
      expect([name, at, found?.level ?? 0]).toEqual([name, at, modelOf(at)])
      if (found) expect(found.isPublic).toBe(modelLevel(world, nobody, at) > 0)
      if (found) (isGone(world, at) ? inTrash : readable).push(fileId)
    }
    const listing = { sort: 'name', direction: 'asc', now } as const
    for (const maxCandidates of [-1, 1_000]) {
      const way = { ...listing, maxCandidates }
      const listed = await listAll(reader, who, { ...way, filter: {} })
      expect([name, listed]).toEqual([name, readable.sort()])
      const gone = await listAll(reader, who, { ...way, filter: { statuses: ['D'] } })
      expect([name, gone]).toEqual([name, inTrash.sort()])
    }
    const counted = await listFilesFrom(reader, who, { ...listing, filter: {}, offset: 1, limit: 2 })
    expect(counted.total).toBe(readable.length)
    expect(counted.items.map(({ file }) => file.fileId)).toEqual(readable.slice(1, 3))
  }
}

/** Moves, trashes and restores; answers the world as it is then. */
async function takeSteps(
  db: Database,
  tenant: Tenant,
  world: World,
  look: (world: World) => Promise<void>,
): Promise<World> {
  let current = world
  for (const step of world.steps) {
    const next = afterStep(current, step)
    if (!next) continue
    const folderId = fileIdAt(tenant, step.file)
    const change = {
      kind: step.kind === 'trash' ? 'trashing' : 'restoring',
      folderId,
      parentId: undefined,
    } as const
    await db.transact(tenant.tenantId, async (tx) => {
      if (step.kind === 'move')
        await updateFile(tx, folderId, { parentId: parentAt(tenant, next, step), modifiedAt: 2 })
      else await putFolderChange(tx, change, now)
      if (step.kind === 'trash') await trashRoot(tx, folderId, now)
      await changeLeaves(tx, step.kind, folderId, 1)
    })
    // A folder goes to the trash at once, and comes back at last.
    if (step.isHalf && step.kind !== 'move') await look(step.kind === 'trash' ? next : current)
    await db.transact(tenant.tenantId, async (tx) => {
      while ((await changeLeaves(tx, step.kind, folderId, 2)) > 0);
      if (step.kind === 'restore') await restoreRoot(tx, folderId, parentAt(tenant, next, step))
      await deleteFolderChanges(tx, [folderId])
    })
    current = next
  }
  return current
}

async function changeLeaves(
  tx: Writer,
  kind: Step['kind'],
  folderId: FileId,
  limit: number,
): Promise<number> {
  if (kind === 'trash') return await trashLeaves(tx, folderId, { now, limit })
  return kind === 'restore' ? (await restoreLeaves(tx, folderId, limit)).files : 0
}

function parentAt(tenant: Tenant, world: World, { file }: Step): FileId | null {
  const parent = world.files[file]?.parent
  return parent === undefined ? null : fileIdAt(tenant, parent)
}

/** Undefined where the step cannot be taken. */
function afterStep(world: World, { kind, file: at, to }: Step): World | undefined {
  const file = world.files[at]
  if (!file) return undefined
  const put = (change: Partial<ModelFile>): World => ({
    ...world,
    files: world.files.map((other, each) => (each === at ? { ...other, ...change } : other)),
  })
  // What lies in a folder came later than that, so that no folder comes to lie in itself.
  const mayLieIn = to === undefined || (to < at && !isGone(world, to))
  const parent = mayLieIn ? to : undefined
  if (kind === 'restore')
    return file.isTrashed ? put({ isTrashed: false, isDiscarded: false, parent }) : undefined
  if (isGone(world, at)) return undefined
  return kind === 'trash' ? put({ isTrashed: true, isDiscarded: false }) : put({ parent })
}

/** Every page is full but the last. */
async function listAll(
  reader: Parameters<typeof listFilePage>[0],
  who: Parameters<typeof listFilePage>[1],
  listing: Omit<Parameters<typeof listFilePage>[2], 'limit' | 'cursor'>,
): Promise<string[]> {
  const all: string[] = []
  let cursor: string | undefined
  while (true) {
    const page = await listFilePage(reader, who, { ...listing, limit: 2, cursor })
    all.push(...page.items.map(({ file }) => file.fileId))
    if (page.nextCursor === null) return all
    expect(page.items).toHaveLength(2)
    cursor = page.nextCursor
  }
}

async function store(db: Database, clock: TestClock, tenant: Tenant, world: World) {
  const { tenantId } = tenant
  const idOf = (at: number) => fileIdAt(tenant, at)
  const folders = new Set([...world.files.map(({ parent }) => parent), ...world.steps.map(({ to }) => to)])
  await db.transact(tenantId, async (tx) => {
    for (const idTag of strangers) {
      const bond = world.bonds[idTag]
      await changeRelation(tx, idTag, {
        isFollower: bond === 'follower',
        connection: bond === 'connected' ? 'connected' : 'disconnected',
        isBlocked: bond === 'blocked',
        role: world.type === 'community' ? world.roles[idTag] : undefined,
        at: 1,
      })
    }
    const tables =
      tx.tables<Record<'files' | 'shares' | 'actions' | 'action_attachments', Record<string, unknown>>>()
    for (const [at, file] of world.files.entries()) {
      await insertFile(tx, {
        fileId: idOf(at),
        fileTp: folders.has(at) ? 'FLDR' : 'CRDT',
        status: isGone(world, at) ? 'D' : 'A',
        ownerTag: file.owner,
        isCopy: file.isCopy,
        preset: 'default',
        fileName: idOf(at),
        contentType: 'inode/directory',
        size: 0,
        content: undefined,
        parentId: file.isTrashed || file.parent === undefined ? undefined : idOf(file.parent),
        visibility: file.visibility,
        tags: [],
        processingError: undefined,
        createdAt: 1,
        modifiedAt: 1,
      })
      if (file.isTrashed)
        await tables
          .updateTable('files')
          .set({
            original_parent_id: file.parent === undefined ? null : idOf(file.parent),
            discarded_at: file.isDiscarded ? 1 : null,
          })
          .where('tenant_id', '=', tenantId)
          .where('file_id', '=', idOf(at))
          .execute()
      for (const [number, { visibility, issuer }] of file.attachedTo.entries()) {
        const ids = { tenant_id: tenantId, action_id: `a${at} ${number}`, issuer_tag: issuer }
        const rest = { type: 'POST', status: 'A', created_at: 1, issued_at: 1, visibility }
        await tables
          .insertInto('actions')
          .values({ ...ids, ...rest })
          .execute()
        await tables
          .insertInto('action_attachments')
          .values({ ...ids, file_id: idOf(at) })
          .execute()
      }
    }
    for (const share of world.shares)
      await tables
        .insertInto('shares')
        .values({
          tenant_id: tenantId,
          resource_id: idOf(share.file),
          subject_type: 'person' in share.to ? 'U' : 'F',
          subject_id: 'person' in share.to ? share.to.person : idOf(share.to.readersOf),
          permission: share.permission,
          expires_at: share.isExpired ? now : null,
          created_by: hostTag,
          created_at: 1,
        })
        .execute()
  })
  const vault = { seal: () => Buffer.from('x') } as never
  const { refId } = await db.transact(tenantId, (tx) =>
    makeReference({ vault, clock }, tx, {
      type: 'share.file',
      resourceId: idOf(world.keyFile),
      accessLevel: world.keyLevel,
      createdBy: hostTag,
    }),
  )
  return refId
}
