import type { ActionId } from '@kith/protocol'
import Type from 'typebox'
import { jobKind } from '#infra/jobs/index.ts'

/** How long a message may be sent, and the TTL for which a push service keeps it. */
export const messageLifeSecs = 24 * 60 * 60

const actionId = Type.Unsafe<ActionId>(Type.String())

/** Finds out which browsers of a tenant are notified of an action. */
export const notifyJob = jobKind({
  name: 'push.notify',
  payload: Type.Object({ actionId }),
  retry: { maxAttempts: 5, firstDelayMs: 1_000, longestDelayMs: 60_000 },
  concurrency: 4,
  group: 'by tenant',
  keepDeadMs: 0,
})

/** Sends a notification of an action to one browser. */
export const sendPushJob = jobKind({
  name: 'push.send',
  payload: Type.Object({ actionId, subscriptionId: Type.Integer() }),
  retry: {
    maxAttempts: 6,
    giveUpAfterMs: messageLifeSecs * 1000,
    firstDelayMs: 10_000,
    longestDelayMs: 3_600_000,
  },
  concurrency: 32,
  // A tenant whose push services are slow delays no other tenant.
  group: 'by tenant',
  keepDeadMs: messageLifeSecs * 1000,
})
