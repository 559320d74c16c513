import type { Tenants } from '#features/tenants/index.ts'
import type { Authenticator, Invalidation } from './authenticator.ts'

/** Forgets what another process of the server says must not be believed from memory. */
export function followInvalidations(
  memory: { readonly authenticator: Authenticator; readonly tenants: Pick<Tenants, 'forget'> },
  message: string,
): void {
  const forgotten = JSON.parse(message) as Invalidation
  memory.authenticator.applyInvalidation(forgotten)
  // A tenant of whom everything is forgotten may have been suspended.
  if (!('callerTag' in forgotten) && forgotten.sid === undefined) memory.tenants.forget()
}
