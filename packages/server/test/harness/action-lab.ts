import { createSecretKey, randomBytes } from 'node:crypto'
import { type ActionId, ActionTokenPayload, type IdTag, parseActionToken } from '@kith/protocol'
import { Compile } from 'typebox/compile'
import { afterEach } from 'vitest'
import { actionPorts, wireActions } from '#app/action-features.ts'
import {
  actionsMigrations,
  findConcerned,
  findSendable,
  findStoredAction,
  linkInvitationsMigrations,
  ownActionId,
  type ReceivedAction,
  type ReceiveOutcome,
  receiveAction,
} from '#features/actions/index.ts'
import { auditMigrations } from '#features/audit/index.ts'
import { federationMigrations } from '#features/federation/index.ts'
import { createOwnProfile, profilesMigrations } from '#features/profiles/index.ts'
import { handleServerStatusEnds, relationsMigrations } from '#features/relations/index.ts'
import { createTenant, type HostedTenant, openTenants, tenantsMigrations } from '#features/tenants/index.ts'
import { type Caller, guest, type Identified, identified } from '#infra/caller/index.ts'
import { type Migration, serverTenant, type TenantId, type Writer } from '#infra/db/index.ts'
import { type JobQueue, jobsMigrations, openJobs } from '#infra/jobs/index.ts'
import { keysMigrations, openSignatures, openSigningKeys, openVault } from '#infra/keys/index.ts'
import { silentLogger } from '#infra/telemetry/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { actorAt } from './action-actor.ts'
import { ActionWorld, fakeDelivery, fakeFiles, fakeIdentities } from './action-fakes.ts'
import type { OpenTestDatabase } from './each-dialect.ts'
import { TestClock } from './test-clock.ts'
import { labBytes } from './test-seed.ts'

export type { Actor } from './action-actor.ts'
export { guest }

export const actionLabMigrations: readonly Migration[] = [
  ...keysMigrations,
  ...jobsMigrations,
  ...tenantsMigrations,
  ...auditMigrations,
  ...federationMigrations,
  ...relationsMigrations,
  ...profilesMigrations,
  ...actionsMigrations,
  ...linkInvitationsMigrations,
]

/** `OpenTestDatabase`, or its `forPlans`. */
type LabOpener = OpenTestDatabase['forPlans']

const payloadSchema = Compile(ActionTokenPayload)

/** Inside a suite of `eachDialect`: tenants whose actions go from one to another inside one database; `settle` delivers
 * what was sent and runs the jobs that are due. `more`: of the tables beside those of actions. */
export function actionLab(open: LabOpener, more: readonly Migration[] = []): () => Promise<ActionLab> {
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

/** What the program opens before its features. */
async function openLabServices(open: LabOpener, more: readonly Migration[]) {
  const clock = new TestClock()
  const db = await open({ migrations: [...actionLabMigrations, ...more], clock })
  const vault = openVault({ masterKey: createSecretKey(randomBytes(32)) })
  const signingKeys = openSigningKeys({ db, vault, clock, signatures: openSignatures() })
  const jobs = openJobs({ db, clock, logger: silentLogger, nodeId: 'lab' })
  return { clock, db, signingKeys, jobs }
}

async function openActionLab(open: LabOpener, more: readonly Migration[]) {
  const services = await openLabServices(open, more)
  const { clock, db, jobs, signingKeys: keys } = services
  const world = new ActionWorld()
  const tenants = openTenants({ db, clock })
  const wired = actionPorts(services, fakeIdentities(world, tenants), fakeFiles(world))
  const ports = { ...wired, deliver: fakeDelivery(world) }
  const endpoints = wireActions(services, { tenants }, ports)
  handleServerStatusEnds(jobs, ports)
  await jobs.start()
  const actor = (tenant: HostedTenant, caller: Caller) => actorAt({ db, endpoints }, tenant, caller)

  async function makeTenant(idTag: string, type: 'person' | 'community' = 'person') {
    const deps = {
      tenants,
      clock,
      keys,
      isProxied: async () => false,
      createOwnProfile: (tx: Writer, profile: Parameters<typeof createOwnProfile>[2]) =>
        createOwnProfile({ clock }, tx, profile),
    }
    const name = idTag.split('.')[0] ?? idTag
    const tenant = await db.transact(serverTenant, (tx) =>
      createTenant(deps, tx, { idTag: idTag as IdTag, type, name }),
    )
    return actor(tenant, identity(tenant.idTag, { isOwner: true, role: 'leader' }))
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
    const nonce = labBytes(16).toString('base64url')
    const iat = nowSecs(clock)
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
    } while (world.sent.length > 0)
  }

  async function deliverSent(): Promise<void> {
    for (let next = world.sent.shift(); next; next = world.sent.shift()) {
      const found = await findSendable(db.reader(next.tenantId), next.actionId, nowSecs(clock))
      if (!found) continue
      const { payload, announced } = readToken(found.token, found.beside)
      const concerned = await findConcerned({ tenants }, db.reader(serverTenant), payload, announced?.payload)
      for (const tenant of concerned)
        if (next.recipients.includes(tenant.idTag)) await receive(tenant, found.token, found.beside)
    }
  }

  return {
    ...world,
    ...{ clock, db, tenants, keys, jobs, ports, endpoints },
    ...{ makeTenant, actor, tokenOf, forge, receive, settle },
    /** A second passes, so that what comes next is later. */
    tick: (seconds = 1) => clock.advance(seconds * 1000),
  }
}

export type ActionLab = Awaited<ReturnType<typeof openActionLab>>

export function identity(idTag: string, rights: Partial<Identified> = {}): Identified {
  return identified(idTag as IdTag, { tokenUse: 'login', role: 'public', ...rights })
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
