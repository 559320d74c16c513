import { accountsMigrations } from '#features/accounts/index.ts'
import { actionsMigrations } from '#features/actions/index.ts'
import { auditMigrations } from '#features/audit/index.ts'
import { busMigrations } from '#features/bus/index.ts'
import { databasesMigrations } from '#features/databases/index.ts'
import { documentsMigrations } from '#features/documents/index.ts'
import { federationMigrations } from '#features/federation/index.ts'
import { filesMigrations } from '#features/files/index.ts'
import { idpMigrations } from '#features/idp/index.ts'
import { profilesMigrations } from '#features/profiles/index.ts'
import { pushMigrations } from '#features/push/index.ts'
import { registrationMigrations } from '#features/registration/index.ts'
import { relationsMigrations } from '#features/relations/index.ts'
import { settingsMigrations } from '#features/settings/index.ts'
import { tenantsMigrations } from '#features/tenants/index.ts'
import type { Migration } from '#infra/db/index.ts'
import { jobLeasesMigrations, jobQueueMigrations } from '#infra/jobs/index.ts'
import { keysMigrations } from '#infra/keys/index.ts'

/** Every migration of the program, in the order in which they are applied. New ones go to the end, in lists of their own. */
export const migrations: readonly Migration[] = [
  ...keysMigrations,
  ...jobQueueMigrations,
  ...tenantsMigrations,
  ...auditMigrations,
  ...accountsMigrations,
  ...federationMigrations,
  ...relationsMigrations,
  ...profilesMigrations,
  ...registrationMigrations,
  ...settingsMigrations,
  ...busMigrations,
  ...pushMigrations,
  ...actionsMigrations,
  ...filesMigrations,
  ...idpMigrations,
  ...jobLeasesMigrations,
  ...documentsMigrations,
  ...databasesMigrations,
]
