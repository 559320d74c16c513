import { serverTenant, type Writer } from '#infra/db/index.ts'
import { removeJobsAbout } from '#infra/jobs/index.ts'
import { deleteChallenges } from './challenge-store.ts'
import { deleteName } from './name-store.ts'
import { orderJob } from './order-certificate.ts'

/** Removes the certificates, keys and orders of names whose owner is gone for good. A name that the server answers for
 * nevertheless gets a new one. */
export async function forgetNames(tx: Writer, names: readonly string[]): Promise<void> {
  const own = tx.as(serverTenant)
  for (const name of names) {
    await removeJobsAbout(own, orderJob, name)
    await deleteChallenges(own, name)
    await deleteName(own, name)
  }
}
