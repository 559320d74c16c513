import { createSecretKey, randomBytes } from 'node:crypto'
import {
  type Action,
  type ActionId,
  ActionTokenPayload,
  acceptAction,
  type BodyOf,
  type CreatedAction,
  cancelAction,
  createAction,
  deleteAction,
  dismissAction,
  getAction,
  type IdTag,
  listActions,
  type NewAction,
  parseActionToken,
  publishAction,
  type QueryOf,
  type ReactionKind,
  rejectAction,
  type StrangerSetting,
  setReaction,
  setStat,
  updateAction,
  type Visibility,
} from '@kith/protocol'
import { Compile } from 'typebox/compile'
import { afterEach } from 'vitest'
import {
  type ActionChange,
  type ActionPorts,
  actionEndpoints,
  actionsMigrations,
  findConcerned,
  findSendable,
  findStoredAction,
  handleActionJobs,
  ownActionId,
  type ReceivedAction,
  type ReceiveOutcome,
  receiveAction,
} from '#features/actions/index.ts'
import { auditMigrations } from '#features/audit/index.ts'
import { createOwnProfile, profilesMigrations } from '#features/profiles/index.ts'
import {
  endServerStatus,
  endServerStatusJob,
  findEffectiveRelation,
  findRelation,
  isLastLeader,
  listCircle,
  relationsMigrations,
  roleOf,
} from '#features/relations/index.ts'
import {
  createTenant,
  findTenantByIdTag,
  type HostedTenant,
  openTenants,
  tenantsMigrations,
} from '#features/tenants/index.ts'
import { type Caller, guest, type Identified } from '#infra/caller/index.ts'
import { type Migration, serverTenant, type TenantId } from '#infra/db/index.ts'
import { type JobQueue, jobsMigrations, openJobs } from '#infra/jobs/index.ts'
import { keysMigrations, openSignatures, openSigningKeys, openVault } from '#infra/keys/index.ts'
import { silentLogger } from '#infra/telemetry/index.ts'
import { Failure } from '#lib/failure.ts'
import { callEndpoint } from './call-endpoint.ts'
import type { OpenTestDatabase } from './each-dialect.ts'
import { TestClock } from './test-clock.ts'

export const actionLabMigrations: readonly Migration[] = [
  ...keysMigrations,
  ...jobsMigrations,
  ...tenantsMigrations,
  ...auditMigrations,
  ...relationsMigrations,
  ...profilesMigrations,
  ...actionsMigrations,
]

interface Sent {
  readonly tenantId: TenantId
  readonly actionId: ActionId
  readonly recipients: readonly IdTag[]
}

type ListItem = Action

const payloadSchema = Compile(ActionTokenPayload)

/** Inside a suite of `eachDialect`: tenants whose actions go from one to another inside one database; `settle` delivers
 * what was sent and runs the jobs that are due. `more`: of the tables beside those of actions. */
export function actionLab(open: OpenTestDatabase, more: readonly Migration[] = []): () => Promise<ActionLab> {
  const running: JobQueue[] = []
  afterEach(async () => {
    for (const jobs of running.splice(0)) await jobs.stop()
  })
  return async () => {
    const lab = await openActionLab(open, more)
    running.push(lab.jobs)
    return lab
  }
}

async function openActionLab(open: OpenTestDatabase, more: readonly Migration[]) {
  const clock = new TestClock()
  const db = await open({ migrations: [...actionLabMigrations, ...more], clock })
  const tenants = openTenants({ db, clock })
  const vault = openVault({ masterKey: createSecretKey(randomBytes(32)) })
  const keys = openSigningKeys({ db, vault, clock, signatures: openSignatures() })
  const jobs = openJobs({ db, clock, logger: silentLogger, nodeId: 'lab' })
  const sent: Sent[] = []
  const events: ActionChange[] = []
  const settings = { visibility: undefined as Visibility | undefined, open: new Set<StrangerSetting>() }
  const files = { described: [] as string[], told: [] as string[] }
  const unknown = new Set<string>()
  const unreachable = new Set<string>()
  const forbiddenFiles = new Set<string>()
  const missingFiles = new Set<string>()
  const ports: ActionPorts = {
    db,
    clock,
    keys,
    jobs,
    fileShares: {
      describe: async (_, { fileId, permission }) => {
        if (forbiddenFiles.has(fileId)) throw new Failure('E-FILE-NOTFOUND')
        files.described.push(permission)
        return { fileName: 'plan.pdf', contentType: 'application/pdf', fileTp: 'BLOB' }
      },
      grant: async (_, _tenant, { subject, audienceTag }) =>
        void files.told.push(`grant ${subject} ${audienceTag}`),
      withdraw: async (_, _tenant, { subject, audienceTag }) =>
        void files.told.push(`withdraw ${subject} ${audienceTag}`),
      decline: async (_, _tenant, { subject, issuerTag }) =>
        void files.told.push(`decline ${subject} ${issuerTag}`),
      accept: async (_, { subject, issuerTag }) => void files.told.push(`accept ${subject} ${issuerTag}`),
      renew: async () => {},
      drop: async (_, { subject, issuerTag }) => void files.told.push(`drop ${subject} ${issuerTag}`),
    },
    isOpenToStrangers: async (_, setting) => settings.open.has(setting),
    findHosted: (idTag) => tenants.find(idTag),
    deliver: async (tx, { actionId, issuerTag, audience: { named, circle }, leftOut = [] }) => {
      const members = circle ? await listCircle(tx, circle, { after: '', limit: 1000 }) : { idTags: [] }
      const recipients = [...named, ...members.idTags].filter(
        (idTag) => idTag !== issuerTag && !leftOut.includes(idTag),
      )
      if (recipients.length > 0)
        tx.afterCommit(() => sent.push({ tenantId: tx.tenantId, actionId, recipients }))
    },
    fetchAttachments: async (_, { attachments }) => attachments.filter((fileId) => missingFiles.has(fileId)),
    emit: async (tx, event) => {
      if (event.kind !== 'action.counted') tx.afterCommit(() => events.push(event))
    },
    isSilenced: async ({ idTag }) => (await findRelation(db.reader(serverTenant), idTag))?.isBlocked === true,
    findKnownType: async (tx, idTag) => (await findTenantByIdTag(tx, idTag))?.type,
    async findRoleHere(tx, communityTag, idTag) {
      const community = await findTenantByIdTag(tx, communityTag)
      if (community?.type !== 'community') return undefined
      const relation = await findEffectiveRelation(tx.as(community.tenantId), idTag)
      return relation ? roleOf(relation) : 'public'
    },
    async leadsAlone(leaderTag, communityTag) {
      const community = await tenants.find(communityTag)
      return community?.type === 'community' && (await isLastLeader(db.reader(community.tenantId), leaderTag))
    },
    askType: async (idTag) => (await tenants.find(idTag))?.type,
    findIdentity: async (idTag) =>
      unknown.has(idTag) ? 'unknown' : unreachable.has(idTag) ? 'unreachable' : 'found',
    findDefaultVisibility: async () => settings.visibility,
    assertAttachable: async (_, fileIds) => {
      if (fileIds.some((fileId) => forbiddenFiles.has(fileId))) throw new Failure('E-FILE-NOTFOUND')
    },
  }
  handleActionJobs({ ...ports, jobs, findTenantById: tenants.findById })
  const emit = async () => undefined
  jobs.handle(endServerStatusJob, (payload, context) =>
    endServerStatus({ db, clock, emit }, payload, context),
  )
  await jobs.start()
  const endpoints = actionEndpoints(ports)

  async function makeTenant(idTag: string, type: 'person' | 'community' = 'person') {
    const deps = {
      tenants,
      clock,
      keys,
      createOwnProfile: (
        tx: Parameters<typeof createOwnProfile>[1],
        profile: Parameters<typeof createOwnProfile>[2],
      ) => createOwnProfile({ clock }, tx, profile),
    }
    const name = idTag.split('.')[0] ?? idTag
    const tenant = await db.transact(serverTenant, (tx) =>
      createTenant(deps, tx, { idTag: idTag as IdTag, type, name }),
    )
    return actor(tenant, identity(tenant.idTag, { isOwner: true, role: 'leader' }))
  }

  /** A caller on a tenant's host. */
  function actor(tenant: HostedTenant, caller: Caller) {
    const call = { tenant, caller }
    return {
      tenant,
      caller,
      idTag: tenant.idTag,
      reader: db.reader(tenant.tenantId),
      as: (other: Caller) => actor(tenant, other),
      create: (body: NewAction): Promise<CreatedAction> =>
        callEndpoint(endpoints, createAction, { ...call, body }) as Promise<CreatedAction>,
      get: (actionId: string): Promise<Action> =>
        callEndpoint(endpoints, getAction, {
          ...call,
          params: { actionId: actionId as ActionId },
        }) as Promise<Action>,
      remove: (actionId: string) =>
        callEndpoint(endpoints, deleteAction, { ...call, params: { actionId: actionId as ActionId } }),
      update: (actionId: string, body: BodyOf<typeof updateAction>) =>
        callEndpoint(endpoints, updateAction, { ...call, ...about(actionId), body }),
      publish: (actionId: string, publishAt?: number) =>
        callEndpoint(endpoints, publishAction, {
          ...call,
          ...about(actionId),
          ...(publishAt === undefined ? {} : { body: { publishAt } }),
        }),
      cancel: (actionId: string) => callEndpoint(endpoints, cancelAction, { ...call, ...about(actionId) }),
      accept: (actionId: string) => callEndpoint(endpoints, acceptAction, { ...call, ...about(actionId) }),
      reject: (actionId: string) => callEndpoint(endpoints, rejectAction, { ...call, ...about(actionId) }),
      dismiss: (actionId: string) => callEndpoint(endpoints, dismissAction, { ...call, ...about(actionId) }),
      react: (actionId: string, type: ReactionKind | null) =>
        callEndpoint(endpoints, setReaction, { ...call, ...about(actionId), body: { type } }),
      setStat: (actionId: string, body: BodyOf<typeof setStat>) =>
        callEndpoint(endpoints, setStat, { ...call, ...about(actionId), body }),
      stored: (actionId: string) => findStoredAction(db.reader(tenant.tenantId), actionId as ActionId),
      list: async (query: Partial<QueryOf<typeof listActions>> = {}): Promise<ListItem[]> => {
        const page = await callEndpoint(endpoints, listActions, { ...call, query })
        return page.items as unknown as ListItem[]
      },
      page: (query: Partial<QueryOf<typeof listActions>>) =>
        callEndpoint(endpoints, listActions, { ...call, query }) as Promise<{
          items: ListItem[]
          nextCursor?: string | null
          total?: number
        }>,
    }
  }

  async function tokenOf(tenantId: TenantId, actionId: ActionId): Promise<string> {
    const action = await findStoredAction(db.reader(tenantId), actionId)
    if (action?.token === undefined) throw new Error(`${actionId} has no token`)
    return action.token
  }

  /** A well-signed token that no server would make. */
  function forge(
    { tenant }: { readonly tenant: HostedTenant },
    members: Readonly<Record<string, unknown>>,
  ): Promise<string> {
    const nonce = randomBytes(16).toString('base64url')
    const iat = Math.floor(clock.now() / 1000)
    const { idTag: issuerTag } = tenant
    const times = { createdAt: iat, iat, exp: iat + 1000 }
    const payload = { actionId: ownActionId(issuerTag, nonce), issuerTag, nonce, ...times, ...members }
    return keys.sign(tenant.tenantId, payload)
  }

  /** Hands a token to a tenant as the inbox does once it is verified. */
  function receive(tenant: HostedTenant, token: string, announced?: string): Promise<ReceiveOutcome> {
    const received = readToken(token, announced)
    return db.transact(tenant.tenantId, (tx) => receiveAction(ports, tx, { tenant, received }))
  }

  /** Delivers everything that was sent, and what is sent because of it. */
  async function settle(): Promise<void> {
    do {
      await deliverSent()
      await jobs.settle()
    } while (sent.length > 0)
  }

  async function deliverSent(): Promise<void> {
    for (let next = sent.shift(); next; next = sent.shift()) {
      const found = await findSendable(
        db.reader(next.tenantId),
        next.actionId,
        Math.floor(clock.now() / 1000),
      )
      if (!found) continue
      const { payload, announced } = readToken(found.token, found.beside)
      const reader = db.reader(serverTenant)
      const concerned = await findConcerned({ tenants }, reader, payload, announced?.payload)
      for (const tenant of concerned)
        if (next.recipients.includes(tenant.idTag)) await receive(tenant, found.token, found.beside)
    }
  }

  return {
    clock,
    db,
    tenants,
    keys,
    jobs,
    files,
    ports,
    endpoints,
    sent,
    events,
    settings,
    unknown,
    unreachable,
    forbiddenFiles,
    missingFiles,
    makeTenant,
    actor,
    tokenOf,
    forge,
    receive,
    settle,
    /** A second passes, so that what comes next is later. */
    tick: (seconds = 1) => clock.advance(seconds * 1000),
  }
}

export type ActionLab = Awaited<ReturnType<typeof openActionLab>>
export type Actor = Awaited<ReturnType<ActionLab['makeTenant']>>

export { guest }

const about = (actionId: string) => ({ params: { actionId: actionId as ActionId } })

export function identity(idTag: string, rights: Partial<Identified> = {}): Identified {
  return {
    kind: 'identity',
    idTag: idTag as IdTag,
    tokenUse: 'login',
    scope: undefined,
    role: 'public',
    isOwner: false,
    isAdmin: false,
    ...rights,
  }
}

/** An announcement is read with what stands beside it. */
export function readToken(token: string, beside?: string): ReceivedAction {
  const parsed = parseActionToken(token)
  if ('problem' in parsed) throw new Error(`a bad token: ${parsed.problem}`)
  const { payload, actionId, issuerTag } = parsed
  if (!payloadSchema.Check(payload)) throw new Error(JSON.stringify(payloadSchema.Errors(payload)))
  // Every tenant of a lab is of a domain of its own.
  const received = { token, payload, actionId, issuerTag, issuerDomain: issuerTag }
  return beside === undefined ? received : { ...received, announced: readToken(beside) }
}
