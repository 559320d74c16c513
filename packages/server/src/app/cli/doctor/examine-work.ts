import { findAccount } from '#features/accounts/index.ts'
import { findBaseTenant, openTenants } from '#features/tenants/index.ts'
import type { Config } from '#infra/config/index.ts'
import { type Database, type Reader, serverTenant } from '#infra/db/index.ts'
import { countByState, listDead, listGroups } from '#infra/jobs/index.ts'
import type { Clock } from '#lib/clock.ts'
import { assertAllServed } from '../../served-tenants.ts'
import { examine, type Finding, ok, problem, type Verdict, warning } from './finding.ts'

const mostNamed = 5
const mostListed = 1000

/** Tenants and jobs, of a database that is up to date. */
export function examineWork(config: Config, db: Database, clock: Clock): Promise<Finding>[] {
  return [
    examine('Base tenant', () => examineBase(config, db)),
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

async function examineTenants(config: Config, db: Database, clock: Clock): Promise<Verdict> {
  const tenants = openTenants({ db, clock })
  await assertAllServed(config, tenants)
  const count = (await tenants.list({ limit: mostListed })).length
  return ok(`${count === mostListed ? `At least ${count}` : count} live here.`)
}

async function examineJobs(reader: Reader): Promise<Verdict> {
  const counts = await countByState(reader)
  const dead = counts.filter(({ state }) => state === 'dead')
  const open = sum(counts.filter(({ state }) => state !== 'dead' && state !== 'done'))
  if (dead.length === 0) return ok(`${open} wait or run, none has been given up.`)
  const kinds = dead.map(({ kind, count }) => `${count} ${kind}`).join(', ')
  const [latest] = await listDead(reader, { limit: 1 })
  return warning(
    `${open} wait or run, ${sum(dead)} have been given up: ${kinds}.`,
    `They are not tried again. The latest failed with: ${latest?.lastError ?? 'nothing said'}`,
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
