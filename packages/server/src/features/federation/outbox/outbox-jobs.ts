import type { ActionId, IdTag } from '@kith/protocol'
import Type from 'typebox'
import { jobKind, type RetryPolicy } from '#infra/jobs/index.ts'

const dayMs = 86_400_000

// docs/protocol/delivery.md, Retries: 10 s · 2ⁿ up to 12 h, for 7 days.
const patiently: RetryPolicy = {
  maxAttempts: Number.MAX_SAFE_INTEGER,
  giveUpAfterMs: 7 * dayMs,
  firstDelayMs: 10_000,
  longestDelayMs: 12 * 3_600_000,
}

const actionId = Type.Unsafe<ActionId>(Type.String())
const recipients = Type.Array(Type.Unsafe<IdTag>(Type.String()))
const toOneInbox = Type.Object({ actionId, inboxUrl: Type.String(), recipients })

/** Posts one action's token to one inbox, for all its recipients there. */
export const deliverJob = jobKind({
  name: 'outbox.deliver',
  payload: toOneInbox,
  retry: patiently,
  // A server that never answers holds its slot for ten seconds, so there must be enough slots, or dead servers would
  // delay the others. There are fewer than the egress client allows, so that keys and files can still be fetched.
  concurrency: 128,
  group: { concurrency: 2, breakerFailures: 5, restMs: 30_000, longestRestMs: 3_600_000 },
  keepDoneMs: 7 * dayMs,
  // The key is made of the action and the inbox, so that a portion or a search that finds the inbox again adds nothing.
  keepsDedupKey: true,
})

/** Writes the deliveries of actions with many recipients, in portions. One at a time: with two, other writes
 * would wait for two portions. */
export const fanOutJob = jobKind({
  name: 'outbox.fan-out',
  payload: Type.Object({ lane: Type.String() }),
  retry: { maxAttempts: Number.MAX_SAFE_INTEGER, firstDelayMs: 1_000, longestDelayMs: 60_000 },
  concurrency: 1,
  // A tenant may have a lane for each action whose counts it tells.
  group: 'by tenant',
  freesDedupKey: true,
})

/** Posts the counts of an action to an inbox, those that are newest then. At most one waits per inbox and action, for a
 * day at most, because a server that fetches the history gets the counts anyway. */
export const deliverCountsJob = jobKind({
  name: 'outbox.deliver-counts',
  payload: Type.Object({ countsOf: actionId, inboxUrl: Type.String(), recipients }),
  retry: { ...patiently, giveUpAfterMs: dayMs },
  concurrency: 32,
  group: { concurrency: 1, breakerFailures: 5, restMs: 30_000, longestRestMs: 3_600_000 },
  freesDedupKey: true,
  keepDeadMs: 0,
})

/** The same for tenants of this server. */
export const countLocallyJob = jobKind({
  name: 'outbox.count-locally',
  payload: Type.Object({ countsOf: actionId, recipients }),
  retry: { maxAttempts: 5, firstDelayMs: 1_000, longestDelayMs: 600_000 },
  concurrency: 2,
  keepDeadMs: 0,
})

/** Asks a receiver that could not verify a token whether it can now. It ends after a week, like a delivery. */
export const confirmJob = jobKind({
  name: 'outbox.confirm',
  payload: toOneInbox,
  retry: {
    maxAttempts: Number.MAX_SAFE_INTEGER,
    giveUpAfterMs: 7 * dayMs,
    firstDelayMs: 300_000,
    longestDelayMs: 12 * 3_600_000,
  },
  concurrency: 16,
  group: { concurrency: 1, breakerFailures: 5, restMs: 300_000, longestRestMs: 3_600_000 },
})

/** Finds the inboxes of recipients that are not known yet, and then queues the deliveries. A recipient that cannot be
 * found now gets a job of its own. */
export const findInboxJob = jobKind({
  name: 'outbox.find-inbox',
  payload: Type.Object({ actionId, recipients: Type.Array(recipients.items, { minItems: 1 }) }),
  retry: patiently,
  concurrency: 16,
  group: 'by tenant',
})

/** Delivers an action to tenants of this server, without the network. */
export const deliverLocallyJob = jobKind({
  name: 'outbox.deliver-locally',
  payload: Type.Object({ actionId, recipients }),
  retry: { maxAttempts: 20, firstDelayMs: 1_000, longestDelayMs: 600_000 },
  concurrency: 4,
  group: 'by tenant',
  keepDoneMs: 7 * dayMs,
})
