import { type Jobs, recurring } from '#infra/jobs/index.ts'
import type { Identities } from './open-identities.ts'

/** Removes identities of other servers that were not asked for in a week, and those beyond the bound. Between two sweeps the
 * table holds its bound, and what is looked up in this time. */
export function addIdentitySweep(jobs: Pick<Jobs, 'handle'>, identities: Pick<Identities, 'sweep'>): void {
  recurring(jobs, {
    name: 'identities.sweep',
    everyMs: 10 * 60_000,
    run: async () => void (await identities.sweep()),
  })
}
