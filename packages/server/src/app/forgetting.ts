import type { Authenticator } from '#features/accounts/index.ts'
import type { RelationEvent } from '#features/relations/index.ts'
import type { TenantEvent } from '#features/tenants/index.ts'
import type { Writer } from '#infra/db/index.ts'

/** Reactions that drop cached roles and credentials when their rows change. */
export function forgetting(authenticator: Pick<Authenticator, 'forget' | 'forgetRole'>) {
  return {
    forgetRole(tx: Writer, { idTag }: RelationEvent | TenantEvent): void {
      tx.afterCommit(() => authenticator.forgetRole(tx.tenantId, idTag))
    },
    forgetCredentials(tx: Writer, { sid }: { readonly sid: string | undefined }): void {
      tx.afterCommit(() => authenticator.forget(tx.tenantId, sid))
    },
  }
}
