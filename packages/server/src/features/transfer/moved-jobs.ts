import { type IdTag, parseActionId, parseIdTag } from '@kith/protocol'
import Type, { type Static } from 'typebox'
import { Compile, type Validator } from 'typebox/compile'
import {
  type ActionPorts,
  announceLaterJob,
  dropCopiesJob,
  passOnCountsJob,
  reconnectJob,
  tellCountsJob,
} from '#features/actions/index.ts'
import {
  confirmJob,
  deliverJob,
  deliverLocallyJob,
  fetchHistoryJob,
  findInboxJob,
  holdJob,
  holdToken,
} from '#features/federation/index.ts'
import { removeContentsJob, withdrawShareJob } from '#features/files/index.ts'
import type { Writer } from '#infra/db/index.ts'
import type { EnqueueOptions, JobKind, Jobs } from '#infra/jobs/index.ts'
import { parsed, unreadable } from './transfer-format.ts'

export interface QueueMovedDeps extends Pick<ActionPorts, 'deliver'> {
  readonly jobs: Jobs
}

type Queue = (deps: QueueMovedDeps, tx: Writer) => Promise<void>

/** Checks a job of an archive of this tenant; what it answers queues it. */
type Read = (job: MovedJob, idTag: IdTag) => Queue

/** A job as it stands in an archive. */
interface MovedJob {
  readonly kind: string
  /** JSON. */
  readonly payload: string
  readonly runAtMs: number
}

const runAtMs = Type.Integer({ minimum: 0, maximum: 8.64e15 })
// Two tokens.
const payloadText = Type.String({ maxLength: 600_000 })
const jobForm = Compile(Type.Object({ kind: Type.String(), payload: payloadText, runAtMs }))

// No server makes a delivery to more.
const maxRecipients = 1000
const recipients = Type.Array(Type.String(), { maxItems: maxRecipients })
const ToRecipients = Compile(Type.Object({ actionId: Type.String(), recipients }))

/** The jobs that go along with their tenant, and how each is queued where it comes to. An archive may have been written
 * by anybody: of a job only its kind, its payload and its time are taken, and the handlers work on the tenant of the
 * job alone, whatever their payloads say. */
const moved: ReadonlyMap<string, Read> = new Map([
  anew(reconnectJob, () => ({}), ['idTag']),
  anew(announceLaterJob, () => ({})),
  anew(tellCountsJob, ({ actionId }) => ({ dedupKey: actionId })),
  anew(passOnCountsJob, ({ actionId }) => ({ dedupKey: actionId })),
  anew(dropCopiesJob, () => ({}), ['issuerTag']),
  anew(removeContentsJob, () => ({})),
  anew(withdrawShareJob, () => ({}), ['audienceTag']),
  anew(fetchHistoryJob, ({ idTag }) => ({ groupKey: idTag, dedupKey: idTag }), ['idTag']),
  [holdJob.name, hold],
  // Where the recipients are now is found out here.
  [deliverJob.name, deliver],
  [deliverLocallyJob.name, deliver],
  [confirmJob.name, deliver],
  [findInboxJob.name, deliver],
])

export const movedJobs: readonly string[] = [...moved.keys()]

/** Jobs that stay: those of the server, those that are about other tenants of it or about rows that stay, mails and
 * notifications, and those that are made anew from rows. */
export const stayingJobs: readonly string[] = [
  'account.mail',
  'accounts.log-out-elsewhere',
  'actions.accept',
  'actions.admit',
  'actions.publish',
  'actions.withdraw-signed',
  'admin.purge-tenant',
  'admin.sweep-purged',
  'apps.update',
  'certificates.look',
  'certificates.order',
  'files.fetch',
  'files.make-variants',
  'idp.activation-mail',
  'idp.forget-name',
  'inbox.store',
  'inbox.verify-later',
  'inbox.verify-moved',
  'outbox.count-locally',
  'outbox.deliver-counts',
  'outbox.fan-out',
  'profiles.refresh',
  'push.notify',
  'push.send',
  'registration.release-name',
  'relations.end-standing',
  'shares.review',
  'sign-in.password-forgotten',
]

export function isMovedJob({ kind }: { readonly kind: string }): boolean {
  return moved.has(kind)
}

/** Reads a job of an archive of the tenant `idTag`; what it answers queues it for the tenant of `tx`. */
export function readMovedJob(line: string, idTag: IdTag): Queue {
  const job = parsed(line)
  if (!jobForm.Check(job)) throw unreadable('it holds a job that is none')
  const read = moved.get(job.kind)
  if (!read) throw unreadable(`it holds a job ${job.kind}, which does not go along`)
  return read(job, idTag)
}

function anew<Kind extends JobKind>(
  kind: Kind,
  optionsOf: (payload: Static<Kind['payload']>) => Omit<EnqueueOptions, 'runAtMs'>,
  identities: readonly string[] = [],
): [string, Read] {
  const form = Compile(kind.payload)
  return [
    kind.name,
    (job) => {
      const payload = payloadOf(job, form) as Static<Kind['payload']> & Record<string, unknown>
      if (!identities.every((member) => isIdTag(payload[member]))) throw malformed(job)
      return ({ jobs }, tx) =>
        jobs.enqueue(tx, kind, payload, { ...optionsOf(payload), runAtMs: job.runAtMs })
    },
  ]
}

function isIdTag(value: unknown): boolean {
  return typeof value === 'string' && parseIdTag(value) === value
}

const delivery = Compile(holdJob.payload)

function hold(job: MovedJob): Queue {
  const payload = payloadOf(job, delivery) as Static<(typeof holdJob)['payload']>
  return ({ jobs }, tx) => holdToken({ jobs }, tx, payload)
}

function deliver(job: MovedJob, issuerTag: IdTag): Queue {
  const payload = payloadOf(job, ToRecipients) as { actionId: string; recipients: string[] }
  const actionId = parseActionId(payload.actionId)
  const named = payload.recipients.map(parseIdTag).filter((idTag) => idTag !== undefined)
  if (!actionId || named.length !== payload.recipients.length) throw malformed(job)
  return (deps, tx) => deps.deliver(tx, { actionId, issuerTag, audience: { named } })
}

function payloadOf({ kind, payload }: MovedJob, form: Validator): unknown {
  const value = parsed(payload)
  if (!form.Check(value)) throw malformed({ kind })
  return value
}

function malformed({ kind }: Pick<MovedJob, 'kind'>) {
  return unreadable(`it holds a job ${kind} with other members`)
}
