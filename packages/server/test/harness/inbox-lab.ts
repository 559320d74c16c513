import { createSecretKey } from 'node:crypto'
import type { IdTag } from '@kith/protocol'
import { expect } from 'vitest'
import { actionsMigrations, ownActionId, type ReceiveOutcome } from '#features/actions/index.ts'
import type { HistoryDeps } from '#features/federation/inbox/fetch-history.ts'
import type { Receiver } from '#features/federation/inbox/receive-deps.ts'
import { openTokenVerifier } from '#features/federation/inbox/verify-token.ts'
import { federationMigrations } from '#features/federation/index.ts'
import { serverTenant, type TenantId } from '#infra/db/index.ts'
import { jobsMigrations, openJobs } from '#infra/jobs/index.ts'
import { silentLogger } from '#infra/telemetry/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import type { OpenTestDatabase } from './each-dialect.ts'
import { TestClock } from './test-clock.ts'

export const dora = 'dora.one.example' as IdTag
export const eve = 'eve.one.example' as IdTag
export const club = 'club.two.example' as IdTag

const kid = '202601011234'
const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
export const good = Buffer.alloc(96, 1).toString('base64url')
export const forged = Buffer.alloc(96, 2).toString('base64url')
let made = 0

export const tenant = (tenantId: number, suspendedAt?: number): Receiver => ({
  tenantId: tenantId as TenantId,
  idTag: `t${tenantId}.example` as IdTag,
  type: 'person',
  ...(suspendedAt === undefined ? {} : { suspendedAt }),
})

interface Rows {
  jobs: {
    job_id: number
    tenant_id: number
    kind: string
    payload: string
    subject: string | null
    ordering_key: string | null
    group_key: string | null
  }
  tombstones: { issuer_tag: string; action_id: string }
  waiting_tokens: Record<string, unknown>
}

export type Inbox = Awaited<ReturnType<typeof startInbox>>

/** The inbox, over what a test says of issuers, of whom it concerns, and of what they do with it. */
export async function startInbox(open: OpenTestDatabase) {
  const clock = new TestClock()
  const db = await open({
    migrations: [...jobsMigrations, ...federationMigrations, ...actionsMigrations],
    clock,
  })
  const says = {
    unreachable: new Set<IdTag>(),
    blocked: new Set<IdTag>(),
    tooMany: new Set<IdTag>(),
    concerned: [tenant(1)] as Receiver[],
    outcome: (_: Receiver): ReceiveOutcome => ({ kind: 'stored' }),
    history: [] as string[],
  }
  const stored: { tenantId: number; actionId: string; announced?: string }[] = []
  const asked: string[] = []
  const deps: HistoryDeps = {
    db,
    clock,
    jobs: openJobs({ db, clock, logger: silentLogger, nodeId: 'one' }),
    verifier: openTokenVerifier({
      findKeys: async (issuerTag, { sender }) => {
        asked.push(`${issuerTag} for ${sender}`)
        if (says.unreachable.has(issuerTag)) return { kind: 'unreachable' }
        return { kind: 'found', keys: [{ kid, key: createSecretKey(Buffer.from('key')) }] }
      },
      admitIssuer: async (issuerTag) => {
        if (says.tooMany.has(issuerTag)) throw new Failure('E-RATELIMIT')
      },
      verifySignature: async (_, signature) => signature[0] === 1,
    }),
    isBlockedHere: async (idTag) => says.blocked.has(idTag),
    findConcerned: async () => {
      asked.push('concerned')
      return says.concerned
    },
    findTenantById: async (tenantId) => says.concerned.find((it) => it.tenantId === tenantId),
    receiveAction: async (tx, { tenant: { tenantId }, received: { actionId, announced } }) => {
      expect(tx.tenantId).toBe(tenantId)
      stored.push({ tenantId, actionId, ...(announced ? { announced: announced.actionId } : {}) })
      return says.outcome(tenant(tenantId))
    },
    requestHistory: async ({ idTag: reader }, idTag, { since }) => {
      asked.push(`${idTag} since ${since} for ${reader}`)
      return says.history
    },
  }
  const tables = () => db.reader(serverTenant).tables<Rows>()
  return {
    deps,
    db,
    clock,
    says,
    asked,
    stored,
    /** The tenants that have been given it, in order. */
    storedAt: () => stored.map(({ tenantId }) => tenantId),
    queued: async (kind: string) =>
      await tables()
        .selectFrom('jobs')
        .select(['tenant_id', 'payload', 'subject', 'ordering_key', 'group_key'])
        .where('kind', '=', kind)
        .orderBy('job_id')
        .execute(),
    withdrawn: async () =>
      (await tables().selectFrom('tombstones').select('action_id').execute()).map((it) => it.action_id),
    waiting: async () => (await tables().selectFrom('waiting_tokens').select('token_hash').execute()).length,
    /** As many wait already, of this size together. */
    async wait(count: number, bytes: number, of: { domain?: string; sender?: string; receivedAt?: number }) {
      const { domain = 'other.example', sender = '198.51.100.1', receivedAt = nowSecs(clock) } = of
      const common = { tenant_id: serverTenant, domain, sender, received_at: receivedAt }
      const rows = Array.from({ length: count }, (_, at) => {
        made += 1
        return { ...common, token_hash: `waiting ${made}`, bytes: at === 0 ? bytes : 0 }
      })
      await db.transact(serverTenant, async (tx) => {
        await tx.tables<Rows>().insertInto('waiting_tokens').values(rows).execute()
      })
    },
    token(members: Record<string, unknown> = {}, issuerTag = dora, signature = good) {
      made += 1
      const nonce = `${String(made).padStart(21, 'A')}A`
      const now = nowSecs(clock)
      const times = { createdAt: now, iat: now, exp: now + 30 * 86_400 }
      const actionId = ownActionId(issuerTag, nonce)
      const payload = { actionId, issuerTag, type: 'POST', nonce, ...times, ...members }
      return {
        actionId,
        token: `${encode({ alg: 'ES384', typ: 'JWT', kid })}.${encode(payload)}.${signature}`,
      }
    },
  }
}
