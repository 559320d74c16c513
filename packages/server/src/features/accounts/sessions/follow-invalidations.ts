import type { Tenants } from '#features/tenants/index.ts'
import type { Authenticator, Invalidation } from './authenticator.ts'

/** Forgets what another process of the server says must not be believed from memory. */
export function followInvalidations(
  memory: {
    readonly authenticator: Pick<Authenticator, 'applyInvalidation'>
    readonly tenants: Pick<Tenants, 'forget'>
  },
  message: string,
): void {
  const forgotten = JSON.parse(message) as Invalidation
  memory.authenticator.applyInvalidation(forgotten)
  // A tenant of whom everything is forgotten may have been suspended.
  if (!('callerTag' in forgotten) && forgotten.sid === undefined) memory.tenants.forget()
}

/** Listens for what may have ended credentials: the role of somebody at one tenant ends none. */
export function whenCredentialsEnd(look: () => void): (message: string) => void {
  return (message) => {
    const forgotten = JSON.parse(message) as Invalidation
    if (!('callerTag' in forgotten) || forgotten.tenantId === undefined) look()
  }
}
