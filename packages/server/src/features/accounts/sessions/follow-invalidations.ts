import type { Tenants } from '#features/tenants/index.ts'
import type { TenantId } from '#infra/db/index.ts'
import type { Authenticator, Invalidation } from './authenticator.ts'

/** Drops from caches what another process of the server has changed. */
export function followInvalidations(
  memory: {
    readonly authenticator: Pick<Authenticator, 'applyInvalidation'>
    readonly tenants: Pick<Tenants, 'forget'>
  },
  message: string,
): void {
  const forgotten = JSON.parse(message) as Invalidation
  memory.authenticator.applyInvalidation(forgotten)
  // A tenant whose sessions are all forgotten may have been suspended.
  if (!('callerTag' in forgotten) && forgotten.sid === undefined) memory.tenants.forget()
}

/** Calls `look` for messages that may have ended credentials: a role changed at one tenant ends none. */
export function whenCredentialsEnd(look: () => void): (message: string) => void {
  return (message) => {
    const forgotten = JSON.parse(message) as Invalidation
    if (!('callerTag' in forgotten) || forgotten.tenantId === undefined) look()
  }
}

/** Calls `end` for messages that a session has ended, or all of a tenant. */
export function whenSessionsEnd(
  end: (tenantId: TenantId, sid: string | undefined) => void,
): (message: string) => void {
  return (message) => {
    const forgotten = JSON.parse(message) as Invalidation
    if (!('callerTag' in forgotten)) end(forgotten.tenantId, forgotten.sid)
  }
}
