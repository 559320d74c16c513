import type { JobQueue } from '#infra/jobs/index.ts'
import { type NotifyDeps, notify } from './notify.ts'
import { notifyJob, sendPushJob } from './push-jobs.ts'
import { type SendDeps, sendPush } from './send-push.ts'

/** Registers the handlers of the jobs that notify browsers. */
export function handlePushJobs(jobs: Pick<JobQueue, 'handle'>, deps: NotifyDeps & SendDeps): void {
  jobs.handle(notifyJob, (payload, context) => notify(deps, payload, context))
  jobs.handle(sendPushJob, (payload, context) => sendPush(deps, payload, context))
}
