import Type from 'typebox'
import { type Database, serverTenant, type Writer } from '#infra/db/index.ts'
import { type Jobs, jobKind } from '#infra/jobs/index.ts'
import type { Logger } from '#infra/telemetry/index.ts'
import { type AcmeClient, AcmeError, certificateId } from '#infra/tls/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { type CertificateState, nextRenewal } from './certificate.ts'
import { eachPage, findState, listDue, listToAsk, setRenewal } from './certificate-store.ts'
import { deleteChallengesBefore } from './challenge-store.ts'
import { holdDue } from './hold-store.ts'
import { deleteUnwanted, insertNames, moveToAuthority, setUnwanted } from './name-store.ts'
import type { Account } from './open-account.ts'
import { orderJob } from './order-certificate.ts'

export interface SweepDeps {
  readonly db: Database
  readonly clock: Clock
  readonly logger: Pick<Logger, 'warn' | 'info'>
  readonly jobs: Pick<Jobs, 'enqueueAll'>
  readonly account: Account
  readonly directoryUrl: string
  /** The names that this server answers for. */
  listNames(): Promise<ReadonlySet<string>>
  /** By what authorities limit: the registered domain of a name. */
  zoneOf(name: string): Promise<string>
  random(): number
}

/** Looks at all names at once, after something has changed. */
export const lookJob = jobKind({
  name: 'certificates.look',
  payload: Type.Object({}),
  retry: { maxAttempts: 5, firstDelayMs: 2_000, longestDelayMs: 60_000 },
  concurrency: 1,
  freesDedupKey: true,
})

/** Has all names looked at after the transaction in which one has come or gone, where the server gets certificates itself. */
export async function noteNameChange(
  { jobs, isOn }: { readonly jobs: Pick<Jobs, 'enqueue'>; readonly isOn: boolean },
  tx: Writer,
): Promise<void> {
  if (isOn) await jobs.enqueue(tx.as(serverTenant), lookJob, {}, { dedupKey: 'look' })
}

const insertedAtOnce = 500
const maxDue = 50
const maxAsked = 20
const daySecs = 24 * 3600
// A name that comes back soon needs no order.
const keptUnwantedSecs = 30 * daySecs

/** Compares what is kept with the names that this server answers for, and orders what is due. */
export async function sweepCertificates(deps: SweepDeps): Promise<void> {
  const { db, clock, directoryUrl } = deps
  await matchNames(deps)
  await db.transact(serverTenant, (tx) => moveToAuthority(tx, directoryUrl, nowSecs(clock)))
  await enqueueDue(deps)
  // Last: an authority that does not answer takes long.
  await askForRenewals(deps)
}

async function matchNames(deps: SweepDeps): Promise<void> {
  const { db, clock } = deps
  const now = nowSecs(clock)
  const missing = new Set(await deps.listNames())
  const wanted = new Set(missing)
  for await (const page of eachPage(db)) {
    const gone = page.filter(({ name, unwantedSince }) => unwantedSince === undefined && !wanted.has(name))
    const back = page.filter(({ name, unwantedSince }) => unwantedSince !== undefined && wanted.has(name))
    for (const { name } of page) missing.delete(name)
    if (gone.length + back.length === 0) continue
    await db.transact(serverTenant, async (tx) => {
      await setUnwanted(tx, namesOf(gone), now)
      await setUnwanted(tx, namesOf(back), undefined)
    })
  }
  // The base name is the first of them; who came first has the first turn.
  const fresh = [...missing].map((name, at) => ({ name, dueAt: now - missing.size + at }))
  for (let from = 0; from < fresh.length; from += insertedAtOnce) {
    const some = fresh.slice(from, from + insertedAtOnce)
    const rows = await Promise.all(some.map(async (one) => ({ ...one, zone: await deps.zoneOf(one.name) })))
    await db.transact(serverTenant, (tx) => insertNames(tx, rows, now))
  }
  await db.transact(serverTenant, async (tx) => {
    await deleteUnwanted(tx, now - keptUnwantedSecs)
    await deleteChallengesBefore(tx, now - daySecs)
  })
}

/** Asks the authority when it wants certificates to be renewed (RFC 9773); where it does not say, the usual time holds. */
async function askForRenewals(deps: SweepDeps): Promise<void> {
  const { db, clock, account } = deps
  for (const { name, chain } of await listToAsk(db.reader(serverTenant), nowSecs(clock), maxAsked)) {
    const id = await certificateId(chain)
    const ask = (client: AcmeClient) => (id === undefined ? undefined : client.renewalWindow(id))
    const window = await account.use(async (client) => ask(client)).catch(onlyAcme(deps, name))
    await db.transact(serverTenant, async (tx) => {
      const state = await findState(tx, name)
      if (!state) return
      await setRenewal(tx, name, nextRenewal(state, window, { now: nowSecs(clock), random: deps.random() }))
    })
  }
}

function onlyAcme({ logger }: SweepDeps, name: string) {
  return (error: unknown): undefined => {
    if (!(error instanceof AcmeError)) throw error
    logger.info({ name, detail: error.message }, 'the authority does not say when to renew')
  }
}

async function enqueueDue({ db, clock, jobs }: SweepDeps): Promise<void> {
  const now = nowSecs(clock)
  await db.transact(serverTenant, async (tx) => {
    await holdDue(tx, now)
    const due = await listDue(tx, now, maxDue)
    const orders = due.map((name) => ({ payload: { name }, options: { dedupKey: name, subject: name } }))
    if (orders.length > 0) await jobs.enqueueAll(tx, orderJob, orders)
  })
}

const namesOf = (states: readonly CertificateState[]) => states.map(({ name }) => name)
