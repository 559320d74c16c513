import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { filesMigrations } from '#features/files/index.ts'
import { queryPlan } from '#harness/query-plan.ts'
import { openDatabase, serverTenant, type TenantId } from '#infra/db/index.ts'
import { listExpired, listGivenOn, listGivenOnAfter, listGivenOnBy } from './share-store.ts'
import { givenOnMigrations, sharesMigrations } from './shares-migrations.ts'

test('a sweep reads only what has expired and what was given on', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'kith-share-plans-'))
  const path = join(folder, 'kith.db')
  const migrations = [...filesMigrations, ...sharesMigrations, ...givenOnMigrations]
  const db = await openDatabase({ url: `sqlite:${path}`, migrations })
  const explainer = new DatabaseSync(path)
  const place = { tenantId: 0, shareId: 0 }
  const tenant = db.reader(1 as TenantId)
  const steps = [
    ...(await queryPlan(explainer, db.reader(serverTenant), (reader) => listExpired(reader, 1, 10))),
    ...(await queryPlan(explainer, db.reader(serverTenant), (reader) => listGivenOnAfter(reader, place, 10))),
    ...(await queryPlan(explainer, tenant, (reader) => listGivenOnBy(reader, 'bob'))),
    ...(await queryPlan(explainer, tenant, (reader) => listGivenOn(reader))),
  ]
  expect(steps).toEqual([
    'SEARCH shares USING INDEX shares_expiry (expires_at>? AND expires_at<?)',
    'SEARCH shares USING INDEX shares_derived (tenant_id>?)',
    'SEARCH shares USING INDEX shares_given_on (tenant_id=? AND created_by=?)',
    'SEARCH shares USING INDEX shares_given_on (tenant_id=?)',
  ])
  explainer.close()
  await db.close()
  await rm(folder, { recursive: true, force: true })
})
