import { serverTenant, type Writer } from '#infra/db/index.ts'
import type { Jobs } from '#infra/jobs/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { findState, setDue } from './certificate-store.ts'
import { holdDue } from './hold-store.ts'
import { insertNames } from './name-store.ts'
import { orderJob } from './order-certificate.ts'
import { setNextAttempt } from './order-store.ts'

export interface RenewDeps {
  readonly clock: Clock
  readonly jobs: Pick<Jobs, 'enqueue'>
  zoneOf(name: string): Promise<string>
}

/** Has a certificate made anew now, whatever it waits for; only what the authority asked to wait for is waited for. Answers
 * until when that is, if so. */
export async function renewCertificate(
  { clock, jobs }: Omit<RenewDeps, 'zoneOf'>,
  tx: Writer,
  { name, zone }: { readonly name: string; readonly zone: string },
): Promise<{ readonly heldUntil: number | undefined }> {
  const own = tx.as(serverTenant)
  const now = nowSecs(clock)
  await insertNames(own, [{ name, zone, dueAt: now }], now)
  await setDue(own, name, now)
  await holdDue(own, now)
  const state = await findState(own, name)
  if (state?.fault?.kind === 'rateLimited' && state.nextAttemptAt > now)
    return { heldUntil: state.nextAttemptAt }
  await setNextAttempt(own, name, now)
  await jobs.enqueue(own, orderJob, { name }, { dedupKey: name, subject: name })
  return { heldUntil: undefined }
}
