import { serverTenant, type Writer } from '#infra/db/index.ts'
import { addSweep, type SweepDeps } from '#infra/jobs/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import {
  type DueProfile,
  deleteRemoteProfile,
  hasMoreThan,
  listDueProfiles,
  postpone,
} from './profile-sweep-store.ts'

const hourMs = 3_600_000
const daySecs = 86_400
/** About 1 kB each, 16 kB at most. */
const maxRemoteProfiles = 200_000
const keptSecs = 30 * daySecs
const keptWhereManySecs = daySecs
const relatedAgainSecs = 7 * daySecs
const perPortion = 100

/** Removes profiles of other servers without relations here that were not asked for lately. They can be fetched again. */
export function addProfileSweep(
  { clock, ...deps }: SweepDeps & { readonly clock: Clock },
  { maxRows = maxRemoteProfiles } = {},
): void {
  let areMany = false
  addSweep(
    deps,
    { name: 'profiles.sweep', everyMs: hourMs },
    async (tx) => {
      areMany = await hasMoreThan(tx.as(serverTenant), maxRows)
      return 0
    },
    (tx) => lookAtSome(tx, { now: nowSecs(clock), unrelatedSecs: areMany ? keptWhereManySecs : keptSecs }),
  )
}

interface Terms {
  readonly now: number
  /** How long a profile without relations is kept. */
  readonly unrelatedSecs: number
}

async function lookAtSome(tx: Writer, terms: Terms): Promise<number> {
  const due = await listDueProfiles(tx, { now: terms.now, limit: perPortion })
  for (const profile of due) {
    const lookAt = lookAgainAt(profile, terms)
    if (lookAt === undefined) await deleteRemoteProfile(tx, profile.idTag)
    else await postpone(tx, profile.idTag, lookAt)
  }
  return due.length
}

/** Undefined when it is to go now. */
function lookAgainAt({ isRelated, refreshedAt }: DueProfile, { now, unrelatedSecs }: Terms) {
  if (isRelated) return now + relatedAgainSecs
  if (refreshedAt <= now - unrelatedSecs) return undefined
  return Math.max(refreshedAt, now) + daySecs
}
