import { findAccount, listWithoutEmail } from '#features/accounts/index.ts'
import { findBaseTenant, openTenants } from '#features/tenants/index.ts'
import type { Config } from '#infra/config/index.ts'
import { type Database, type Reader, serverTenant } from '#infra/db/index.ts'
import { countByState, listGroups, pageDead } from '#infra/jobs/index.ts'
import type { Clock } from '#lib/clock.ts'
import { assertAllServed } from '../../served-tenants.ts'
import { examine, type Finding, ok, problem, type Verdict, warning } from './finding.ts'

const mostNamed = 5
const mostListed = 1000

/** Tenants and jobs, of a database that is up to date. */
export function examineWork(config: Config, db: Database, clock: Clock): Promise<Finding>[] {
  return [
    examine('Base tenant', () => examineBase(config, db)),
    examine('E-mail addresses', () => examineAddresses(db, clock)),
    examine('Tenants', () => examineTenants(config, db, clock)),
    examine('Jobs', () => examineJobs(db.reader(serverTenant))),
    examine('Hosts', () => examineHosts(db.reader(serverTenant), clock)),
  ]
}

async function examineBase({ baseIdTag }: Config, db: Database): Promise<Verdict> {
  const base = await findBaseTenant(db.reader(serverTenant))
  if (!base) return ok(`${baseIdTag} is not there yet; the first start makes it.`)
  if (base.idTag !== baseIdTag)
    return problem(
      `This server belongs to ${base.idTag}, and BASE_ID_TAG says ${baseIdTag}.`,
      'It cannot be changed: set BASE_ID_TAG back.',
    )
  const account = await findAccount(db.reader(base.tenantId))
  if (account?.passwordHash === undefined)
    return warning(
      `${baseIdTag} has no password yet.`,
      `Set it with the link in the file setup-link of the data directory, or with kith tenant password ${baseIdTag}`,
    )
  return ok(`${baseIdTag} can sign in.`)
}

async function examineAddresses(db: Database, clock: Clock): Promise<Verdict> {
  const { tenantIds, total } = await listWithoutEmail(db.reader(serverTenant), mostNamed)
  if (total === 0) return ok('Every account has one.')
  const tenants = openTenants({ db, clock })
  const found = await Promise.all(tenantIds.map((tenantId) => tenants.findById(tenantId)))
  const names = found.flatMap((tenant) => tenant?.idTag ?? [])
  return warning(
    `${total} ${total === 1 ? 'account has' : 'accounts have'} none, and no link can be mailed when the password is forgotten: ${names.join(', ')}${total > names.length ? ', …' : ''}`,
    'Who owns the account enters it on its page after signing in; you set it with kith tenant email IDTAG ADDRESS',
  )
}

async function examineTenants(config: Config, db: Database, clock: Clock): Promise<Verdict> {
  const tenants = openTenants({ db, clock })
  await assertAllServed(config, tenants)
  const count = (await tenants.list({ limit: mostListed })).length
  return ok(`${count === mostListed ? `At least ${count}` : count} live here.`)
}

async function examineJobs(reader: Reader): Promise<Verdict> {
  const counts = await countByState(reader)
  const dead = counts.filter(({ state }) => state === 'dead')
  const open = sum(
    counts.filter(({ state, isRecurring }) => state !== 'dead' && (!isRecurring || state === 'leased')),
  )
  if (dead.length === 0) return ok(`${open} wait or run, none has been given up.`)
  const kinds = dead.map(({ kind, count }) => `${count} ${kind}`).join(', ')
  const [latest] = (await pageDead(reader, { limit: 1 })).items
  return warning(
    `${open} wait or run, ${sum(dead)} have been given up: ${kinds}.`,
    `They are not tried again by themselves: kith jobs list, kith jobs retry. The latest failed with: ${latest?.lastError ?? 'nothing said'}`,
  )
}

function sum(counts: readonly { readonly count: number }[]): number {
  return counts.reduce((total, { count }) => total + count, 0)
}

async function examineHosts(reader: Reader, clock: Clock): Promise<Verdict> {
  const kinds = new Set((await countByState(reader)).map(({ kind }) => kind))
  const lists = await Promise.all(
    [...kinds].map((kind) => listGroups(reader, { kind, limit: mostListed, onlyFailing: true })),
  )
  const resting = lists.flat().filter(({ restsUntilMs = 0 }) => restsUntilMs > clock.now())
  if (resting.length === 0) return ok('None rests because it did not answer.')
  const names = [...new Set(resting.map(({ groupKey }) => groupKey))]
  const shown = `${names.slice(0, mostNamed).join(', ')}${names.length > mostNamed ? ', …' : ''}`
  return warning(
    `${names.length} did not answer and rest: ${shown}`,
    'Nothing needs to be done: they are tried again by themselves for some days.',
  )
}
