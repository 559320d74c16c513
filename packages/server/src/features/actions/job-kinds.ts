import Type from 'typebox'
import { jobKind } from '#infra/jobs/index.ts'

const minuteMs = 60_000

const AboutAction = Type.Object({ actionId: Type.String() })
const soonAgain = { maxAttempts: 20, firstDelayMs: 1_000, longestDelayMs: 10 * minuteMs }

/** Publishes a scheduled action at its time. */
export const publishLaterJob = jobKind({
  name: 'actions.publish',
  payload: AboutAction,
  retry: soonAgain,
  concurrency: 4,
  group: 'by tenant',
})

/** Accepts a request in the tenant's name, when the tenant need not be asked. */
export const acceptLaterJob = jobKind({
  name: 'actions.accept',
  payload: AboutAction,
  retry: soonAgain,
  concurrency: 4,
  group: 'by tenant',
})

/** Shows an action from elsewhere whose attachments cannot be fetched. */
export const admitLaterJob = jobKind({
  name: 'actions.admit',
  payload: AboutAction,
  retry: soonAgain,
  concurrency: 4,
  group: 'by tenant',
})

/** Removes the copies of files that an ended action had attached. */
export const dropCopiesJob = jobKind({
  name: 'actions.drop-copies',
  payload: Type.Object({ issuerTag: Type.String(), fileIds: Type.Array(Type.String()) }),
  retry: soonAgain,
  concurrency: 2,
  group: 'by tenant',
})

/** Announces to a community's members what one of them posted to it, and comments to the readers of a thread. */
export const announceLaterJob = jobKind({
  name: 'actions.announce',
  payload: AboutAction,
  retry: soonAgain,
  concurrency: 4,
  group: 'by tenant',
})

/** Passes on the counts of an action that was posted to a community to its members. */
export const passOnCountsJob = jobKind({
  name: 'actions.pass-on-counts',
  payload: Type.Object({ actionId: Type.String(), passedId: Type.Optional(Type.String()) }),
  retry: { maxAttempts: 5, firstDelayMs: 10_000, longestDelayMs: 10 * minuteMs },
  concurrency: 2,
  freesDedupKey: true,
})

/** Tells the holders of an action how often it was reacted to, commented on, viewed and shared. */
export const tellCountsJob = jobKind({
  name: 'actions.tell-counts',
  payload: AboutAction,
  retry: { maxAttempts: 5, firstDelayMs: 10_000, longestDelayMs: 10 * minuteMs },
  concurrency: 2,
  group: 'by tenant',
  freesDedupKey: true,
})

/** Asks for a connection anew that an import says there was: the other accepts it by itself if there still is. */
export const reconnectJob = jobKind({
  name: 'actions.reconnect',
  payload: Type.Object({ idTag: Type.String() }),
  retry: soonAgain,
  concurrency: 2,
  group: 'by tenant',
})

/** Withdraws at all tenants of this server what a revoked key has signed. */
export const withdrawSignedJob = jobKind({
  name: 'actions.withdraw-signed',
  payload: Type.Object({ issuerTag: Type.String(), kid: Type.String(), since: Type.Integer() }),
  retry: soonAgain,
  concurrency: 1,
  freesDedupKey: true,
})
