import {
  type ActionId,
  type FileId,
  fileIdOf,
  type IdTag,
  type SharePermission,
  type Visibility,
} from '@kith/protocol'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { accountsMigrations, makeReference } from '#features/accounts/index.ts'
import { type ActionPorts, ownActionId } from '#features/actions/index.ts'
import { changeRelation, findEffectiveRelation, type Relation, roleOf } from '#features/relations/index.ts'
import { type ActionLab, type Actor, actionLab, identity } from '#harness/action-lab.ts'
import { eachDialect } from '#harness/each-dialect.ts'
import { type Caller, guest } from '#infra/caller/index.ts'
import type { Writer } from '#infra/db/index.ts'
import { queueFetches } from '../copies/queue-fetches.ts'
import { listFilePage } from '../file-list-store.ts'
import { insertFile } from '../file-store.ts'
import { filesMigrations } from '../files-migrations.ts'
import { findAccessibleFile } from './file-access-store.ts'
import { findFileViewer } from './find-file-viewer.ts'

const more = [...filesMigrations, ...accountsMigrations]
const others = ['friend', 'follower', 'former', 'stranger', 'member'] as const
type Other = (typeof others)[number]
const tagOf = (name: Other) => `${name}.example.com` as IdTag

interface FilePlan {
  readonly fileTp: 'BLOB' | 'FLDR' | 'CRDT' | 'RTDB'
  /** An earlier one, if that is a folder. */
  readonly parent: number | undefined
  readonly owner: Other | 'host'
  readonly isCopy: boolean
  readonly visibility: Visibility
}
interface SharePlan {
  readonly file: number
  readonly to: Other | number | 'link'
  readonly permission: SharePermission
}
interface ActionPlan {
  /** Often of the first of the files that are attached. */
  readonly issuer: Other | 'its owner'
  readonly type: 'POST' | 'CMNT' | 'SHRE' | 'MSG'
  readonly visibility: Visibility | undefined
  readonly isAddressed: boolean
  /** Of all that are there, for comments. */
  readonly parent: number
  readonly attached: readonly number[]
  readonly via: 'itself' | 'community'
}
interface World {
  readonly type: 'person' | 'community'
  readonly files: readonly FilePlan[]
  readonly shares: readonly SharePlan[]
  readonly own: readonly Pick<ActionPlan, 'visibility' | 'attached' | 'parent' | 'type'>[]
  readonly earlier: readonly ActionPlan[]
  readonly received: readonly ActionPlan[]
}

const visibilities = fc.constantFrom<Visibility>(null, null, null, 'P', 'V', 'F', 'C')
const worlds: fc.Arbitrary<World> = fc.integer({ min: 2, max: 5 }).chain((count) => {
  const file = fc.nat(count - 1)
  const issuer = fc.constantFrom(...others)
  const files = fc.tuple(
    ...Array.from({ length: count }, (_, at) =>
      fc.record({
        fileTp: fc.constantFrom('BLOB', 'FLDR', 'CRDT', 'RTDB'),
        parent: at === 0 ? fc.constant(undefined) : fc.option(fc.nat(at - 1), { nil: undefined }),
        owner: fc.oneof({ weight: 2, arbitrary: fc.constant('host' as const) }, issuer),
        isCopy: fc.boolean(),
        visibility: visibilities,
      }),
    ),
  )
  const said = {
    visibility: fc.constantFrom<Visibility | undefined>('P', 'P', 'V', 'F', 'C', undefined),
    type: fc.constantFrom('POST', 'POST', 'CMNT', 'SHRE', 'MSG'),
    parent: fc.nat(9),
    attached: fc.uniqueArray(file, { minLength: 1, maxLength: 3 }),
  } as const
  const received = fc.record({
    ...said,
    issuer: fc.oneof(issuer, fc.constant('its owner' as const)),
    isAddressed: fc.boolean(),
    via: fc.constantFrom('itself', 'itself', 'community'),
  })
  // A world that takes nothing in would say nothing.
  const welcome = fc.record({
    ...said,
    type: fc.constant('POST'),
    issuer: fc.constant('friend'),
    isAddressed: fc.constant(true),
    via: fc.constant('itself'),
  })
  return fc.record({
    type: fc.constantFrom('person', 'community'),
    files,
    shares: fc.uniqueArray(
      fc.record({
        file,
        to: fc.oneof(issuer, file, file, fc.constant('link' as const)),
        permission: fc.constantFrom('R', 'W', 'A'),
      }),
      { maxLength: 6, selector: ({ file: shared, to }) => `${shared} ${to}` },
    ),
    own: fc.array(fc.record(said), { maxLength: 3 }),
    earlier: fc.array(received, { maxLength: 2 }),
    received: fc
      .tuple(fc.array(received, { maxLength: 2 }), welcome, fc.array(received, { maxLength: 2 }))
      .map(([before, taken, after]) => [...before, taken, ...after]),
  }) as fc.Arbitrary<World>
})

eachDialect('An action from elsewhere', (open) => {
  const openLab = actionLab(open, more)

  test(`widens access to no file but its issuer’s own copies`, async () => {
    const lab = await openLab()
    const signer = await lab.makeTenant('signer.example.com')
    // What a hostile server is glad of: everything is here already, and nothing is waited for.
    const attachments: ActionPorts['attachments'] = {
      ...lab.ports.attachments,
      async queueFetches(tx, received) {
        await queueFetches({ jobs: { enqueueAll: async () => undefined } }, tx, received)
        return []
      },
    }
    Object.assign(lab.ports, { attachments })
    let [worldsMade, stored] = [0, 0]
    await fc.assert(
      fc.asyncProperty(worlds, async (world) => {
        worldsMade += 1
        const host = await lab.makeTenant(`host${worldsMade}.example.com`, world.type)
        const stage = await build(lab, host, world)
        const scene = { lab, signer, host, world, actionIds: [] as string[] }
        for (const plan of world.earlier) await receive(scene, plan)
        await publish(scene)
        const before = await levels(stage)
        for (const plan of world.received) if (await receive(scene, plan)) stored += 1
        const after = await levels(stage)
        for (const [at, { isCopy, owner }] of world.files.entries()) {
          const attaches = (plan: ActionPlan) => issuerOf(world, plan) === owner && plan.attached.includes(at)
          if (isCopy && world.received.some(attaches)) continue
          for (const [viewer, level] of Object.entries(after[at] ?? {}))
            expect({ at, viewer, level: Math.max(level, before[at]?.[viewer] ?? 0) }).toEqual({
              at,
              viewer,
              level: before[at]?.[viewer] ?? 0,
            })
        }
      }),
      { numRuns: open.runs(10) },
    )
    expect(stored).toBeGreaterThanOrEqual(worldsMade)
  })
})

interface Stage {
  readonly lab: ActionLab
  readonly host: Actor
  readonly fileIds: readonly FileId[]
  readonly holder: Caller
}

async function build(lab: ActionLab, host: Actor, world: World): Promise<Stage> {
  const { tenantId } = host.tenant
  const fileIds = world.files.map((plan, at) => fileIdFor(plan, tenantId, at))
  const reference = await lab.db.transact(tenantId, async (tx) => {
    await relate(tx, world)
    for (const [at, plan] of world.files.entries()) await storeFile(tx, host, { plan, fileIds, at, world })
    for (const share of world.shares) await storeShare(tx, host, share, fileIds)
    const vault = { seal: () => Buffer.from('x') } as never
    return makeReference({ vault, clock: lab.clock }, tx, {
      type: 'share.file',
      resourceId: fileIds[world.shares.find(({ to }) => to === 'link')?.file ?? 0] as FileId,
      accessLevel: 'write',
      createdBy: host.idTag,
    })
  })
  const scope = [{ fileId: reference.resourceId as FileId, level: 'write' as const }]
  return { lab, host, fileIds, holder: { kind: 'reference', refId: reference.refId, scope } }
}

const fileIdFor = ({ fileTp }: FilePlan, tenantId: number, at: number) =>
  fileIdOf(fileTp, Buffer.alloc(32, tenantId * 10 + at).toString('base64url'))

async function relate(tx: Writer, { type }: World): Promise<void> {
  const bonds = {
    friend: { connection: 'connected' },
    follower: { isFollower: true },
    former: { connection: 'disconnected' },
    stranger: {},
    member: type === 'community' ? { connection: 'connected', role: 'contributor' } : { isFollowing: true },
  } satisfies Record<Other, Partial<Relation>>
  for (const name of others) await changeRelation(tx, tagOf(name), { ...bonds[name], at: 1 })
}

async function storeFile(
  tx: Writer,
  host: Actor,
  { plan, fileIds, at, world }: { plan: FilePlan; fileIds: readonly FileId[]; at: number; world: World },
): Promise<void> {
  const { fileTp, owner, isCopy, visibility } = plan
  const parent = world.files[plan.parent ?? at]?.fileTp === 'FLDR' ? plan.parent : undefined
  await insertFile(tx, {
    fileId: fileIds[at] as FileId,
    fileTp,
    status: 'A',
    ownerTag: owner === 'host' ? host.idTag : tagOf(owner),
    // Nobody has a copy of their own.
    isCopy: isCopy && owner !== 'host',
    preset: 'default',
    fileName: `file ${at}`,
    contentType: 'text/plain',
    size: 0,
    content: undefined,
    parentId: parent === undefined ? undefined : fileIds[parent],
    visibility: isCopy ? null : visibility,
    tags: [],
    processingError: undefined,
    createdAt: 1,
    modifiedAt: 1,
  })
}

async function storeShare(
  tx: Writer,
  host: Actor,
  { file, to, permission }: SharePlan,
  fileIds: readonly FileId[],
) {
  if (to === 'link') return
  const subject =
    typeof to === 'number'
      ? { subject_type: 'F', subject_id: fileIds[to] as string }
      : { subject_type: 'U', subject_id: tagOf(to) as string }
  await tx
    .tables<{ shares: Record<string, string | number | null> }>()
    .insertInto('shares')
    .values({
      tenant_id: tx.tenantId,
      resource_id: fileIds[file] as string,
      ...subject,
      permission,
      expires_at: null,
      created_by: host.idTag,
      created_at: 1,
    })
    .execute()
}

interface Scene {
  readonly lab: ActionLab
  readonly signer: Actor
  readonly host: Actor
  readonly world: World
  /** Of what is there to comment on. */
  readonly actionIds: string[]
}

function bodyOf({ host, world, actionIds }: Scene, plan: Omit<ActionPlan, 'issuer' | 'via' | 'isAddressed'>) {
  const { type, visibility, attached, parent } = plan
  const parentId = actionIds[parent % Math.max(1, actionIds.length)]
  const attachments = attached.map((at) => fileIdFor(world.files[at] as FilePlan, host.tenant.tenantId, at))
  const body = { content: { text: 'Look' }, attachments, ...(visibility === undefined ? {} : { visibility }) }
  return type === 'CMNT' && parentId !== undefined
    ? { ...body, type, parentId }
    : { ...body, type: type === 'CMNT' ? ('POST' as const) : type }
}

/** What the host itself says, about its own files; copies it cannot attach. */
async function publish(scene: Scene): Promise<void> {
  const { lab, host, world, actionIds } = scene
  for (const plan of world.own) {
    const attached = plan.attached.filter((at) => !world.files[at]?.isCopy)
    const type = plan.type === 'CMNT' ? 'CMNT' : 'POST'
    const made = await host.create(bodyOf(scene, { ...plan, type, attached })).catch(() => undefined)
    if (made) actionIds.push(made.actionId)
    lab.tick()
  }
}

function issuerOf({ files }: World, { issuer, attached }: ActionPlan): Other {
  if (issuer !== 'its owner') return issuer
  const owner = files[attached[0] ?? 0]?.owner ?? 'host'
  return owner === 'host' ? 'stranger' : owner
}

/** Hands an action to the host as the inbox does, or as a community announces it; true where it was taken in. */
async function receive(scene: Scene, plan: ActionPlan): Promise<boolean> {
  const { lab, signer, host, actionIds } = scene
  const issuerTag = tagOf(issuerOf(scene.world, plan))
  const nonce = Buffer.alloc(16, actionIds.length + 1).toString('base64url')
  const actionId = ownActionId(issuerTag, nonce)
  const isAnnounced = plan.via === 'community' && plan.type !== 'CMNT'
  const community = tagOf('friend')
  const audience = isAnnounced ? community : host.idTag
  const isAddressed = isAnnounced || plan.isAddressed || plan.type === 'MSG'
  const members = { ...bodyOf(scene, plan), ...(isAddressed ? { audienceTag: audience } : {}) }
  const token = await lab.forge(signer, { issuerTag, nonce, actionId, ...members })
  lab.tick()
  const outer = { issuerTag: community, type: 'ANNC', subject: actionId, content: { token } }
  const outerIds = { nonce, actionId: ownActionId(community, nonce) }
  const given = isAnnounced ? await lab.forge(signer, { ...outer, ...outerIds }) : token
  await lab.receive(host.tenant, given)
  const stored = await host.stored(actionId)
  actionIds.push(actionId as ActionId)
  return stored?.status === 'A'
}

/** What everybody may do with each file, by single reads and by what lists show. */
async function levels({ lab, host, fileIds, holder }: Stage): Promise<Record<string, number>[]> {
  const reader = lab.db.reader(host.tenant.tenantId)
  const now = Math.floor(lab.clock.now() / 1000)
  const callers: Record<string, Caller> = { guest, holder, host: host.caller }
  for (const name of others) {
    const relation = await findEffectiveRelation(reader, tagOf(name))
    const role = host.tenant.type === 'community' && relation ? roleOf(relation) : 'public'
    callers[name] = identity(tagOf(name), { role })
  }
  const found: Record<string, number>[] = fileIds.map(() => ({}))
  for (const [name, caller] of Object.entries(callers)) {
    const who = await findFileViewer(reader, { tenant: host.tenant, caller, now })
    const listing = { filter: {}, sort: 'name', direction: 'asc', now, limit: 50, cursor: undefined } as const
    const listed = (await listFilePage(reader, who, listing)).items.map(({ file }) => file.fileId)
    for (const [at, fileId] of fileIds.entries()) {
      const level = (await findAccessibleFile(reader, who, { fileId, now }))?.level ?? 0
      expect([name, at, listed.includes(fileId)]).toEqual([name, at, level > 0])
      Object.assign(found[at] ?? {}, { [name]: level })
    }
  }
  return found
}
