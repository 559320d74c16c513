import { expect, test } from 'vitest'
import { eachDialect } from '#harness/each-dialect.ts'
import { planStatements } from '#harness/recorded-statements.ts'
import { serverTenant, type TenantId } from '#infra/db/index.ts'
import { filesMigrations } from '../files-migrations.ts'
import {
  doubtShares,
  doubtWhatRestsOn,
  listInDoubt,
  listTenantsInDoubt,
  lookAgain,
} from './doubted-shares-store.ts'
import { listBaseIds, listExpired, listResharesAfter } from './share-store.ts'

const tenant = 1 as TenantId

eachDialect('Shares', (open) => {
  /** The indexes by which the rows of each statement are found; a table that is read as a whole has none. */
  const indexesOf = async (work: Parameters<typeof planStatements>[1]) =>
    (await planStatements(await open.forPlans({ migrations: filesMigrations }), work))
      .filter((step) => /(SEARCH|SCAN|Scan).*(share|above)/.test(step))
      .map(
        (step) =>
          /(PRIMARY KEY|_pkey)/.exec(step)?.[0] ?? / (share\w+_\w+)( on| \(|$)/.exec(step)?.[1] ?? step,
      )
      .map((index) => (index === '_pkey' ? 'PRIMARY KEY' : index))

  test('that a sweep looks at are those that expired, were given on or are in doubt', async () => {
    const indexes = await indexesOf(async (db) => {
      await listExpired(db.reader(serverTenant), 1, 10)
      await listResharesAfter(db.reader(serverTenant), { tenantId: 0, shareId: 0 }, 10)
      await listTenantsInDoubt(db.reader(serverTenant))
    })
    expect(indexes).toEqual(['shares_expiry', 'shares_derived', 'shares_in_doubt'])
  })

  test('that rest on one that has ended are found by it, and not among all that was given on', async () => {
    const indexes = await indexesOf(async (db) => {
      await db.transact(tenant, (tx) => doubtWhatRestsOn(tx, [1]))
      await db.transact(tenant, (tx) => doubtShares(tx, [1]))
      await listBaseIds(db.reader(tenant), 1)
    })
    const found = ['share_bases_of', 'share_bases_of']
    const ids = ['PRIMARY KEY']
    const update = open.dialect === 'sqlite' ? [...ids, ...found] : [...found, ...ids]
    expect(indexes).toEqual([...update, ...update, ...ids, ...ids])
  })

  test('in doubt are found among those alone', async () => {
    const indexes = await indexesOf(async (db) => {
      await listInDoubt(db.reader(tenant), 'waiting', 10)
      await listInDoubt(db.reader(tenant), 'unfounded', 10)
      await db.transact(tenant, (tx) => lookAgain(tx, ['bob.example']))
    })
    expect(indexes).toEqual(['shares_in_doubt', 'shares_in_doubt', 'shares_in_doubt'])
  })
})
