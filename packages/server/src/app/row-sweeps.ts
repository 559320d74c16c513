import { addReferenceSweep, addSessionSweep, addSignInSweep } from '#features/accounts/index.ts'
import { addAuditSweep } from '#features/audit/index.ts'
import { addDatabaseJobs } from '#features/databases/index.ts'
import { addCollectionSweep } from '#features/files/index.ts'
import { addProfileSweep } from '#features/profiles/index.ts'
import { addPushSweep } from '#features/push/index.ts'
import { addNameSweep } from '#features/registration/index.ts'
import { addRelationSweep } from '#features/relations/index.ts'
import type { Services } from './services.ts'

/** The sweeps of features that have no other jobs of their own. */
export function addRowSweeps({ db, clock, jobs }: Pick<Services, 'db' | 'clock' | 'jobs'>): void {
  const deps = { db, clock, jobs }
  addAuditSweep(deps)
  addSessionSweep(deps)
  addReferenceSweep(deps)
  addSignInSweep(deps)
  addNameSweep(deps)
  addRelationSweep(deps)
  addProfileSweep(deps)
  addCollectionSweep(deps)
  addDatabaseJobs(deps)
  addPushSweep(deps)
}
