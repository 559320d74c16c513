import type { IdTag } from '@kith/protocol'
import Type from 'typebox'
import { audit } from '#features/audit/index.ts'
import type { Tenants } from '#features/tenants/index.ts'
import type { Tenant } from '#infra/caller/index.ts'
import type { Database, TenantId } from '#infra/db/index.ts'
import { type Jobs, jobKind } from '#infra/jobs/index.ts'
import { type MailDeps, mailWithinLimits } from './mail-within-limits.ts'

export interface ForgotPasswordDeps extends MailDeps {
  readonly db: Database
}

const validSecs = 3600

const forgottenJob = jobKind({
  name: 'sign-in.password-forgotten',
  payload: Type.Object({ idTag: Type.String(), ip: Type.String(), lang: Type.Optional(Type.String()) }),
  retry: { maxAttempts: 10, firstDelayMs: 1_000, longestDelayMs: 60_000 },
  concurrency: 2,
})

/** Only queues the request, so that neither the answer nor its time tells whether the account exists. */
export async function forgotPassword(
  { db, jobs }: Pick<ForgotPasswordDeps, 'db' | 'jobs'>,
  { tenant, ...wish }: { tenant: Tenant; idTag: IdTag; ip: string; lang?: string },
): Promise<void> {
  await db.transact(tenant.tenantId, (tx) => jobs.enqueue(tx, forgottenJob, wish, { dedupKey: wish.idTag }))
}

/** Registers the job that makes and mails the requested references; a suspended tenant gets none. */
export function handleForgottenPasswords(
  jobs: Pick<Jobs, 'handle' | 'enqueue'>,
  deps: Omit<ForgotPasswordDeps, 'jobs'> & {
    readonly tenants: Pick<Tenants, 'findById'>
  },
): void {
  jobs.handle(forgottenJob, async ({ idTag, ip, lang }, { tenantId }) => {
    const tenant = await deps.tenants.findById(tenantId)
    if (tenant?.idTag === idTag && tenant.suspendedAt === undefined)
      await mailReset({ ...deps, jobs }, { tenantId, ip, lang })
  })
}

async function mailReset(
  deps: ForgotPasswordDeps,
  { tenantId, ip, lang }: { tenantId: TenantId; ip: string; lang: string | undefined },
): Promise<void> {
  await deps.db.transact(tenantId, async (tx) => {
    if (await mailWithinLimits(deps, tx, { type: 'password-reset', validSecs, lang }))
      await audit(deps, tx, { event: 'password.reset-requested', ip })
  })
}
