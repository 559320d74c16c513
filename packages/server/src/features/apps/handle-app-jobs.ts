import type { Tenants } from '#features/tenants/index.ts'
import type { JobQueue } from '#infra/jobs/index.ts'
import { offerUpdatesJob, updateAppJob } from './apps-jobs.ts'
import type { InstallDeps } from './install/install-app.ts'
import { offerUpdates, updateApp } from './install/update-app.ts'

interface AppJobDeps extends InstallDeps {
  readonly jobs: Pick<JobQueue, 'handle' | 'enqueue'>
  readonly tenants: Tenants
}

/** Registers what apps do later. */
export function handleAppJobs(deps: AppJobDeps): void {
  deps.jobs.handle(offerUpdatesJob, (payload, context) => offerUpdates(deps, payload, context))
  deps.jobs.handle(updateAppJob, (payload, context) => updateApp(deps, payload, context))
}
