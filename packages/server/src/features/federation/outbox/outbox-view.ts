import { type DeliveryView, toIso } from '@kith/protocol'
import type { JobRecord } from '#infra/jobs/index.ts'
import { deliverLocallyJob } from './outbox-jobs.ts'

interface DeliveryPayload {
  readonly inboxUrl?: string
  readonly recipients: readonly string[]
}

/** A delivery job as its issuer sees it. */
export function deliveryView(job: JobRecord, ownServer: string): DeliveryView {
  const { inboxUrl, recipients } = job.payload as DeliveryPayload
  const named = recipients.length === 1 && recipients[0] !== undefined ? recipients[0] : 'unknown'
  const isLocal = job.kind === deliverLocallyJob.name
  return {
    // Until its server is found, the name of a single recipient stands for it.
    server: inboxUrl ? new URL(inboxUrl).host : isLocal ? ownServer : named,
    recipients: [...recipients],
    state: stateOf(job),
    attempts: job.attempts,
    ...(job.lastError === null || job.state === 'done' ? {} : { lastError: job.lastError }),
    ...(job.lastAttemptAtMs === null ? {} : { lastAttemptAt: isoOf(job.lastAttemptAtMs) }),
    ...(waits(job) ? { nextAttemptAt: isoOf(job.runAtMs) } : {}),
  }
}

/** Stands for recipients that have no delivery yet. */
export const notQueuedYet: DeliveryView = { server: 'unknown', recipients: [], state: 'queued', attempts: 0 }

function stateOf(job: JobRecord): DeliveryView['state'] {
  if (job.state === 'done') return 'delivered'
  if (job.state === 'dead') return 'stopped'
  return job.attempts === 0 ? 'queued' : 'retrying'
}

function waits({ state }: JobRecord): boolean {
  return state === 'new' || state === 'ready' || state === 'waiting'
}

function isoOf(ms: number): string {
  return toIso(ms / 1000)
}
