import { addAuditSweep } from '#features/audit/index.ts'
import { addCollectionSweep } from '#features/collections/index.ts'
import { addProfileSweep } from '#features/profiles/index.ts'
import { addReferenceSweep } from '#features/references/index.ts'
import { addNameSweep } from '#features/registration/index.ts'
import { addRelationSweep } from '#features/relations/index.ts'
import { addSessionSweep } from '#features/sessions/index.ts'
import { addSignInSweep } from '#features/sign-in/index.ts'
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
}
