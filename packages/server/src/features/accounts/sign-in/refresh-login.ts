import type { LoginSession } from '@kith/protocol'
import type { Identified, Tenant } from '#infra/caller/index.ts'
import { Failure, unauthenticated } from '#lib/failure.ts'
import { findSession } from '../sessions/session-store.ts'
import { answerLogin, type CompleteLoginDeps } from './complete-login.ts'

/** A fresh login token of the same session, whose end stays where it is. Only a login token gets one. */
export async function refreshLogin(
  deps: CompleteLoginDeps,
  { tenant, caller }: { tenant: Tenant; caller: Identified },
): Promise<LoginSession> {
  if (caller.tokenUse !== 'login' || !caller.isOwner || caller.sessionId === undefined)
    throw new Failure('E-AUTH-FORBIDDEN')
  const session = await findSession(deps.db.reader(tenant.tenantId), caller.sessionId)
  if (!session) throw unauthenticated('revoked')
  return answerLogin(deps, tenant, session)
}
