import Type from 'typebox'
import { type Database, serverTenant } from '#infra/db/index.ts'
import { JobVerdict, jobKind } from '#infra/jobs/index.ts'
import type { Vault } from '#infra/keys/index.ts'
import type { Logger } from '#infra/telemetry/index.ts'
import {
  AcmeError,
  type AcmeOrder,
  ChainError,
  type ChallengeType,
  certificateId,
  certificateRequest,
  checkChain,
  isForName,
  newPrivateKey,
} from '#infra/tls/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { type CertificateState, isDue, retryDelaySecs, usualRenewal } from './certificate.ts'
import { findState, findStored } from './certificate-store.ts'
import { deleteChallenges, putChallenge } from './challenge-store.ts'
import { holdZone } from './hold-store.ts'
import type { Account } from './open-account.ts'
import {
  countOrdersSince,
  findOrderKey,
  noteOrdering,
  setFailed,
  setIssued,
  setNextAttempt,
  setOrder,
} from './order-store.ts'
import { certificateKeySeal } from './sealed-keys.ts'

export interface OrderDeps {
  readonly db: Database
  readonly vault: Vault
  readonly clock: Clock
  readonly logger: Pick<Logger, 'info' | 'warn'>
  readonly account: Account
  readonly challenge: ChallengeType
  /** Where the DNS leads with a name. */
  whereLeads(name: string): Promise<'here' | 'elsewhere' | 'unknown'>
  /** Told of a new certificate. */
  onIssued(name: string): void
}

/** Gets the certificate of one name. The job runs again and again while the authority works; where it has got to is in the
 * database, so that a process that dies leaves the order to another one. */
export const orderJob = jobKind({
  name: 'certificates.order',
  payload: Type.Object({ name: Type.String() }),
  retry: { maxAttempts: 1000, firstDelayMs: 5_000, longestDelayMs: 60_000 },
  concurrency: 2,
})

const hourSecs = 3600
// Let's Encrypt takes 300 in three hours.
const maxOrdersPerHour = 60
const maxOrderSecs = 15 * 60
const askAgainMs = 2_000
const longestWaitMs = 60_000
const maxSteps = 8
// A certificate that was replaced before, is of another account or of another authority can be replaced by an order like the
// first one (RFC 9773 section 5).
const notReplaced: ReadonlySet<string> = new Set(['alreadyReplaced', 'unauthorized', 'malformed'])
// They say nothing of the order.
const passing: ReadonlySet<string> = new Set(['unreachable', 'serverInternal', 'badNonce'])
// Whatever an authority asks for.
const longestHoldSecs = 7 * 24 * hourSecs
// A clock may be a little behind the authority's.
const toleranceSecs = hourSecs

/** Goes on with the order of a name, or begins one where it is due. Failures are written down; the sweep tries again. */
export async function orderCertificate(deps: OrderDeps, name: string): Promise<void> {
  const state = await findState(deps.db.reader(serverTenant), name)
  if (!state || state.unwantedSince !== undefined) return
  try {
    if (state.orderUrl !== undefined) await goOn(deps, state, state.orderUrl)
    else if (isDue(state, nowSecs(deps.clock))) await begin(deps, state)
  } catch (error) {
    if (!(error instanceof AcmeError) && !(error instanceof ChainError)) throw error
    await noteFailure(deps, state, error)
  }
}

async function begin(deps: OrderDeps, state: CertificateState): Promise<void> {
  const { db, vault, clock, account } = deps
  const { name } = state
  const leads = await deps.whereLeads(name)
  if (leads === 'elsewhere') throw new AcmeError('elsewhere', 'the DNS does not lead to this server')
  if (leads === 'unknown') throw new AcmeError('dnsUnknown', 'the DNS did not answer')
  if (!(await takeTurn(deps, name))) return
  const sealedKey = vault.seal(certificateKeySeal, serverTenant, Buffer.from(await newPrivateKey()))
  // After a failure without it, whatever the authority had against it.
  const stored = state.failures === 0 ? await findStored(db.reader(serverTenant), name) : undefined
  const replaces = stored && (await certificateId(stored.chain))
  const { url } = await account.use((client) =>
    client.newOrder(name, replaces).catch((error: unknown) => {
      if (replaces === undefined || !(error instanceof AcmeError && notReplaced.has(error.type))) throw error
      return client.newOrder(name)
    }),
  )
  await db.transact(serverTenant, (tx) => setOrder(tx, name, { url, sealedKey, now: nowSecs(clock) }))
  await goOn(deps, { ...state, orderUrl: url, orderStartedAt: nowSecs(clock) }, url)
}

/** Counts an order of this hour. False when there were too many: the name waits, and this is not counted as a failed attempt. */
function takeTurn({ db, clock }: OrderDeps, name: string): Promise<boolean> {
  return db.transact(serverTenant, async (tx) => {
    const now = nowSecs(clock)
    const isFree = (await countOrdersSince(tx, now - hourSecs)) < maxOrdersPerHour
    if (isFree) await noteOrdering(tx, name, now)
    else await setNextAttempt(tx, name, now + hourSecs / 6)
    return isFree
  })
}

/** Does what the order waits for, until it waits for the authority. One that does not answer for a moment is asked again:
 * what it may have issued already is not to be ordered twice. */
async function goOn(deps: OrderDeps, state: CertificateState, url: string): Promise<void> {
  const { clock } = deps
  const elapsedSecs = nowSecs(clock) - (state.orderStartedAt ?? 0)
  let retryAtMs = 0
  try {
    const order = await doSteps(deps, state, url)
    if (order.status === 'valid') return
    if (elapsedSecs > maxOrderSecs) throw new AcmeError('tooSlow', 'the authority did not come to an end')
    retryAtMs = order.retryAtMs ?? 0
  } catch (error) {
    const isAway = error instanceof AcmeError && passing.has(error.type)
    if (!isAway || elapsedSecs > maxOrderSecs) throw error
  }
  // Ever more slowly: most are done within seconds.
  const soonest = clock.now() + Math.max(askAgainMs, elapsedSecs * 250)
  const atMs = Math.max(Math.min(retryAtMs, clock.now() + longestWaitMs), soonest)
  throw new JobVerdict('The authority is at work', { kind: 'retry', atMs })
}

/** Answers the order when it has come to its end, or waits. */
async function doSteps(deps: OrderDeps, state: CertificateState, url: string): Promise<AcmeOrder> {
  const read = () => deps.account.use((client) => client.order(url))
  let order = await read()
  for (let step = 0; step < maxSteps; step += 1) {
    if (order.status === 'invalid') throw order.error ?? (await findReason(deps, order))
    if (order.status === 'valid') await take(deps, state, order)
    if (order.status === 'ready') order = await finalize(deps, state.name, order)
    else if (order.status === 'pending' && (await prove(deps, state.name, order))) order = await read()
    else return order
  }
  return order
}

/** Answers the challenges of an order that are open. True when there is nothing left to prove. */
async function prove(deps: OrderDeps, name: string, order: AcmeOrder): Promise<boolean> {
  const { db, clock, account, challenge: type } = deps
  for (const url of order.authorizations) {
    const authorization = await account.use((client) => client.authorization(url))
    if (authorization.status === 'valid') continue
    const open = authorization.challenge(type)
    if (authorization.status !== 'pending')
      throw authorization.error ?? new AcmeError('refused', `the authorization is ${authorization.status}`)
    if (!open) throw new AcmeError('noChallenge', `the authority does not offer ${type}`)
    if (open.status !== 'pending') return false
    const keyAuthorization = await account.use((client) => client.keyAuthorization(open.token))
    const answer = { token: open.token, name, type, keyAuthorization }
    await db.transact(serverTenant, (tx) => putChallenge(tx, answer, nowSecs(clock)))
    await account.use((client) => client.accept(open))
    return false
  }
  return order.authorizations.length > 0
}

async function findReason({ account }: OrderDeps, order: AcmeOrder): Promise<AcmeError> {
  for (const url of order.authorizations) {
    const { error } = await account.use((client) => client.authorization(url))
    if (error) return error
  }
  return new AcmeError('refused', 'the authority gave the order up')
}

async function finalize(deps: OrderDeps, name: string, order: AcmeOrder): Promise<AcmeOrder> {
  const { key } = await orderKey(deps, name)
  const csr = await certificateRequest(name, key)
  return await deps.account.use((client) => client.finalize(order, csr))
}

/** Takes the certificate that was issued, if it is what was ordered. */
async function take(deps: OrderDeps, state: CertificateState, order: AcmeOrder): Promise<void> {
  const { db, clock, account, logger } = deps
  const { name } = state
  const { key, sealedKey } = await orderKey(deps, name)
  const text = await account.use((client) => client.certificate(order.certificate ?? ''))
  const { pem: chain, notBefore, notAfter } = checkChain(text, key)
  const now = nowSecs(clock)
  if (!isForName(chain, name)) throw new AcmeError('badCertificate', 'the certificate is for another name')
  if (!(notBefore <= now + toleranceSecs && notAfter > now + toleranceSecs))
    throw new AcmeError('badCertificate', 'the certificate is not valid at this time')
  const renewAt = usualRenewal({ notBefore, notAfter })
  await db.transact(serverTenant, async (tx) => {
    await deleteChallenges(tx, name)
    await setIssued(tx, name, { chain, sealedKey, notBefore, notAfter, renewAt, askAt: now })
    tx.afterCommit(() => deps.onIssued(name))
  })
  logger.info({ name, expiresAt: new Date(notAfter * 1000).toISOString() }, 'got a certificate')
}

async function orderKey(
  { db, vault }: OrderDeps,
  name: string,
): Promise<{ readonly key: string; readonly sealedKey: Uint8Array }> {
  const sealedKey = await findOrderKey(db.reader(serverTenant), name)
  if (!sealedKey) throw new AcmeError('malformedAnswer', 'the order is not known any more')
  return { key: Buffer.from(vault.unseal(certificateKeySeal, serverTenant, sealedKey)).toString(), sealedKey }
}

async function noteFailure(deps: OrderDeps, state: CertificateState, error: AcmeError | ChainError) {
  const { db, clock, logger } = deps
  const { name, zone } = state
  const kind = error instanceof AcmeError ? error.type : 'badCertificate'
  const fault = { kind, detail: error.message }
  const now = nowSecs(clock)
  const delay = retryDelaySecs(state.failures + 1, state.notAfter !== undefined)
  const asked = error instanceof AcmeError ? Math.ceil((error.retryAtMs ?? 0) / 1000) : 0
  const nextAttemptAt = Math.min(Math.max(now + delay, asked), now + longestHoldSecs)
  await db.transact(serverTenant, async (tx) => {
    await deleteChallenges(tx, name)
    await setFailed(tx, state, { fault, nextAttemptAt, now })
    // Most limits are those of a registered domain; other domains go on.
    const until = Math.max(nextAttemptAt, now + hourSecs)
    const isRenewal = state.notAfter !== undefined
    if (kind === 'rateLimited') await holdZone(tx, zone, { fault, until, isRenewal, now })
  })
  logger.warn({ name, kind, detail: error.message, failures: state.failures + 1 }, 'got no certificate')
}
