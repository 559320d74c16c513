import { type Jobs, recurring } from '#infra/jobs/index.ts'
import type { Identities } from './open-identities.ts'

/** Removes identities of other servers that expired a week ago, and those beyond the bound. Between two sweeps the
 * table may exceed the bound by what is looked up in that time. */
export function addIdentitySweep(jobs: Pick<Jobs, 'handle'>, identities: Pick<Identities, 'sweep'>): void {
  recurring(jobs, {
    name: 'identities.sweep',
    everyMs: 10 * 60_000,
    run: async () => void (await identities.sweep()),
  })
}
