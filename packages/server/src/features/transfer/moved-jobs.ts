import Type from 'typebox'
import { Compile } from 'typebox/compile'
import type { MovedJob } from '#infra/jobs/index.ts'
import { parsed, unreadable } from './transfer-format.ts'

// Which jobs go along with their tenant, by the names of their kinds. Their handlers work on the tenant of the job alone, whatever
// their payloads say: an archive may have been written by anybody.
export const movedJobs: readonly string[] = [
  'account.mail',
  'actions.accept',
  'actions.admit',
  'actions.announce',
  'actions.drop-copies',
  'actions.pass-on-counts',
  'actions.publish',
  'actions.tell-counts',
  'apps.update',
  'files.fetch',
  'files.make-variants',
  'files.remove-contents',
  'idp.activation-mail',
  'inbox.fetch-history',
  'inbox.hold',
  'inbox.verify-later',
  'outbox.confirm',
  'outbox.deliver',
  'outbox.deliver-counts',
  'outbox.find-inbox',
  'push.notify',
  'push.send',
  'relations.end-standing',
  'shares.review',
  'shares.withdraw',
]

/** Jobs that stay: those of the server, and those that are about other tenants of it or about rows that stay. */
export const stayingJobs: readonly string[] = [
  'admin.purge-tenant',
  'apps.offer-updates',
  'certificates.look',
  'certificates.order',
  'idp.forget-name',
  'inbox.store',
  'actions.withdraw-signed',
  'outbox.count-locally',
  'outbox.deliver-locally',
  'outbox.fan-out',
  'profiles.refresh',
  'registration.release-name',
  'sign-in.password-forgotten',
]

const moved = new Set(movedJobs)

export function isMovedJob({ kind }: { readonly kind: string }): boolean {
  return moved.has(kind)
}

const text = Type.Union([Type.String(), Type.Null()])
const jobForm = Compile(
  Type.Object({
    kind: Type.String(),
    payload: Type.String(),
    subject: text,
    dedupKey: text,
    orderingKey: text,
    groupKey: text,
    runAtMs: Type.Integer(),
    createdAtMs: Type.Integer(),
    giveUpAtMs: Type.Union([Type.Integer(), Type.Null()]),
  }),
)

/** A job as it stands in an archive. */
export function readJob(line: string): MovedJob {
  const job = parsed(line)
  if (!jobForm.Check(job)) throw unreadable('it holds a job that is none')
  return job
}
