import type { IdTag } from '@kith/protocol'
import Type from 'typebox'
import type { Asker } from '#features/federation/index.ts'
import type { Tenants } from '#features/tenants/index.ts'
import { type Database, serverTenant } from '#infra/db/index.ts'
import { type Jobs, jobKind } from '#infra/jobs/index.ts'
import type { Clock } from '#lib/clock.ts'
import { Failure, invalid } from '#lib/failure.ts'
import type { NameRequest, RemoteProviders } from './remote-providers.ts'

export interface ClaimNameDeps {
  readonly db: Database
  readonly clock: Clock
  readonly jobs: Pick<Jobs, 'enqueue'>
  readonly providers: RemoteProviders
}

/** A name that a provider reserves for a registration here. */
export interface ClaimedName {
  readonly providerTag: IdTag
  /** To be called when there is no account for it after all. */
  giveBack(): Promise<void>
}

/** Gives a name back to its provider, unless a tenant here has it. */
export const releaseNameJob = jobKind({
  name: 'registration.release-name',
  payload: Type.Object({ providerTag: Type.String(), idTag: Type.String() }),
  retry: { maxAttempts: 10, firstDelayMs: 60_000, longestDelayMs: 6 * 3_600_000 },
  concurrency: 1,
})

// Longer than any registration takes, and short enough for another attempt.
const doubtMs = 15 * 60_000

/** Registers a name with its provider. The job that gives it back is queued before: whatever happens between the
 * provider's answer and the account's commit, the name is not lost. */
export async function claimName(
  deps: ClaimNameDeps,
  wanted: NameRequest,
  asker: Asker,
): Promise<ClaimedName> {
  const { providers, clock } = deps
  const { idTag } = wanted
  const provider = await providers.find(idTag, asker)
  if (!provider) throw invalid('/idTag', 'No provider gives this name.')
  const providerTag = provider.idTag
  const note = { providerTag, idTag }
  await plan(deps, note, { runAtMs: clock.now() + doubtMs, dedupKey: `${providerTag} ${idTag}` })
  const outcome = await providers.register(provider, wanted)
  if (outcome === 'taken') throw new Failure('E-PROFILE-EXISTS', { message: 'This name is taken.' })
  if (outcome === 'refused') throw invalid('/idTag', 'The provider of this name does not give it.')
  return { providerTag, giveBack: () => plan(deps, note) }
}

async function plan(
  { db, jobs }: ClaimNameDeps,
  note: Pick<ClaimedName, 'providerTag'> & { readonly idTag: IdTag },
  options: Parameters<Jobs['enqueue']>[3] = {},
): Promise<void> {
  await db.transact(serverTenant, (tx) => jobs.enqueue(tx, releaseNameJob, note, options))
}

/** Does the work of `releaseNameJob`. */
export async function releaseName(
  { tenants, providers }: { readonly tenants: Pick<Tenants, 'find'>; readonly providers: RemoteProviders },
  { providerTag, idTag }: { readonly providerTag: IdTag; readonly idTag: IdTag },
): Promise<void> {
  if (await tenants.find(idTag)) return
  await providers.release(providerTag, idTag)
}
