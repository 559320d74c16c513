import type { IdTag } from '@kith/protocol'
import Type from 'typebox'
import {
  type Asker,
  type Identities,
  type PublishedIdentity,
  serverItself,
} from '#features/federation/index.ts'
import type { Tenants } from '#features/tenants/index.ts'
import { type Database, serverTenant, type Writer } from '#infra/db/index.ts'
import { type Egress, EgressError } from '#infra/egress/index.ts'
import { type Jobs, jobKind } from '#infra/jobs/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import type { ProfileEmitter } from './own-profile.ts'
import { changedMembers, type StoredProfile } from './profile.ts'
import { findStoredProfile, putRemoteProfile } from './profile-store.ts'
import { parseRemoteProfile, type RemoteProfile } from './remote-profile.ts'

export interface FindProfileDeps extends ProfileEmitter {
  readonly db: Database
  readonly clock: Clock
  readonly jobs: Pick<Jobs, 'enqueue'>
  readonly egress: Pick<Egress, 'request'>
  readonly identities: Pick<Identities, 'resolve'>
  readonly tenants: Pick<Tenants, 'find'>
}

type FoundProfile =
  | { readonly kind: 'found'; readonly profile: StoredProfile }
  | { readonly kind: 'unknown' | 'unreachable' }

const freshSecs = 24 * 60 * 60
const maxAnswerBytes = 65_536

/** Asks the server of an identity for its profile, in the background. */
export const refreshProfileJob = jobKind({
  name: 'profiles.refresh',
  payload: Type.Object({ idTag: Type.String() }),
  retry: { maxAttempts: 5, firstDelayMs: 60_000, longestDelayMs: 3_600_000 },
  concurrency: 4,
})

/** A profile of this server, or of another one, for which it is looked up in the asker's name: remembered for a day,
 * then shown while it is asked for again. */
export async function findProfile(deps: FindProfileDeps, idTag: IdTag, asker: Asker): Promise<FoundProfile> {
  const stored = await findStoredProfile(deps.db.reader(serverTenant), idTag)
  if (!stored) return fetchProfile(deps, { idTag, asker, stored: undefined })
  if (isStale(stored, nowSecs(deps.clock)))
    await deps.db.transact(serverTenant, (tx) => requestProfile(deps, tx, idTag))
  return { kind: 'found', profile: stored }
}

/** Queues a question about an identity's profile, once; none while what is remembered of it is fresh. */
export async function requestProfile(
  deps: Pick<FindProfileDeps, 'jobs' | 'clock'>,
  tx: Writer,
  idTag: IdTag,
): Promise<void> {
  const stored = await findStoredProfile(tx, idTag)
  if (stored && !isStale(stored, nowSecs(deps.clock))) return
  await deps.jobs.enqueue(tx.as(serverTenant), refreshProfileJob, { idTag }, { dedupKey: idTag })
}

/** Stores what an identity's document says, where no profile is stored: a name for its actions. Its server is asked for
 * the profile when that is read. */
export async function noteIdentity(
  { clock }: Pick<FindProfileDeps, 'clock'>,
  tx: Writer,
  identity: PublishedIdentity,
): Promise<void> {
  if (await findStoredProfile(tx, identity.idTag)) return
  const profile = merge({ identity, stored: undefined, answer: 'none', now: nowSecs(clock) })
  await putRemoteProfile(tx.as(serverTenant), { ...profile, refreshedAt: 0 })
}

/** Does the work of `refreshProfileJob`; does nothing when the profile was refreshed meanwhile. */
export async function refreshProfile(deps: FindProfileDeps, idTag: IdTag): Promise<void> {
  const stored = await findStoredProfile(deps.db.reader(serverTenant), idTag)
  if (stored && !isStale(stored, nowSecs(deps.clock))) return
  const outcome = await fetchProfile(deps, { idTag, asker: serverItself, stored })
  if (outcome.kind === 'unreachable') throw new Error(`the server of ${idTag} cannot be reached`)
}

function isStale({ refreshedAt }: StoredProfile, now: number): boolean {
  return refreshedAt !== undefined && refreshedAt <= now - freshSecs
}

async function fetchProfile(
  deps: FindProfileDeps,
  {
    idTag,
    asker,
    stored,
  }: { readonly idTag: IdTag; readonly asker: Asker; readonly stored: StoredProfile | undefined },
): Promise<FoundProfile> {
  const resolved = await deps.identities.resolve(idTag, { asker })
  // What was known of an identity that is gone stays, and is asked for again in a day.
  if (resolved.kind === 'unknown' && stored)
    await deps.db.transact(serverTenant, (tx) =>
      putRemoteProfile(tx, { ...stored, refreshedAt: nowSecs(deps.clock) }),
    )
  if (resolved.kind !== 'found') return resolved
  // A tenant of this server without a profile is one that is being made.
  if (await deps.tenants.find(idTag)) return { kind: 'unknown' }
  const answer = await ask(deps, resolved.identity, stored?.etag)
  // What was known is better than the little that the identity's document says; it is asked for again.
  if (stored && answer === 'none') return { kind: 'unreachable' }
  const profile = merge({ identity: resolved.identity, stored, answer, now: nowSecs(deps.clock) })
  await deps.db.transact(serverTenant, async (tx) => {
    await putRemoteProfile(tx, profile)
    const members = stored ? changedMembers(stored, profile) : []
    if (members.length > 0) await deps.emit(tx, { kind: 'profile.changed', idTag, members })
  })
  return { kind: 'found', profile }
}

interface FoundAnswer {
  readonly profile: RemoteProfile
  readonly etag: string | undefined
}

/** `unchanged`: as it is remembered. `absent`: the server has no such endpoint, or no profile of the identity.
 * `none`: the server says nothing that can be read. */
type ProfileAnswer = FoundAnswer | 'unchanged' | 'absent' | 'none'

const absentStatuses = [404, 405, 410, 501]

async function ask(
  deps: FindProfileDeps,
  { idTag, serverUrl }: PublishedIdentity,
  etag: string | undefined,
): Promise<ProfileAnswer> {
  try {
    const answer = await deps.egress.request({
      method: 'GET',
      url: `${serverUrl}/api/profiles/${idTag}`,
      headers: { accept: 'application/json', ...(etag === undefined ? {} : { 'if-none-match': etag }) },
      maxBytes: maxAnswerBytes,
    })
    if (answer.status === 304) return 'unchanged'
    if (absentStatuses.includes(answer.status)) return 'absent'
    if (answer.status !== 200) return 'none'
    const profile = parseRemoteProfile(Buffer.from(answer.body).toString('utf8'), idTag)
    return profile ? { profile, etag: tagOf(answer.headers) } : 'none'
  } catch (error) {
    if (error instanceof EgressError) return 'none'
    throw error
  }
}

/** The entity tag to ask with again. */
function tagOf({ etag = '' }: { readonly etag?: string }): string | undefined {
  return etag !== '' && etag.length <= 200 ? etag : undefined
}

/** What the profile says, over what the identity's document says. Where the server has no profile (any more), what the
 * document does not say stays as it was known, but for the picture: a document without one has none. */
function merge({
  identity,
  stored,
  answer,
  now,
}: {
  readonly identity: PublishedIdentity
  readonly stored: StoredProfile | undefined
  readonly answer: ProfileAnswer
  readonly now: number
}): StoredProfile {
  if (stored && answer === 'unchanged') return { ...stored, refreshedAt: now }
  const known = answer === 'absent' ? stored : undefined
  const said = typeof answer === 'object' ? answer.profile : {}
  return {
    idTag: identity.idTag,
    name: said.name ?? identity.name ?? known?.name ?? identity.idTag,
    type: said.type ?? identity.type ?? known?.type ?? 'person',
    profilePic: said.profilePic ?? identity.profilePic,
    coverPic: said.coverPic ?? known?.coverPic,
    x: said.x ?? known?.x,
    createdAt: said.createdAt ?? stored?.createdAt ?? now,
    updatedAt: now,
    refreshedAt: now,
    etag: typeof answer === 'object' ? answer.etag : undefined,
  }
}
