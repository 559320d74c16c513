import type { Tenant } from '#infra/caller/index.ts'
import type { Vault } from '#infra/keys/index.ts'

interface Deps {
  readonly vault: Vault
}

type Owner = Pick<Tenant, 'tenantId'>

const purpose = 'browser session'

/** The secret of a cookie as it is stored for a browser that has the former one. */
export function sealSecret({ vault }: Deps, { tenantId }: Owner, secret: string): string {
  return Buffer.from(vault.seal(purpose, tenantId, Buffer.from(secret))).toString('base64url')
}

/** Opens what `sealSecret` made. */
export function unsealSecret({ vault }: Deps, { tenantId }: Owner): (sealed: string) => string {
  return (sealed) => Buffer.from(vault.unseal(purpose, tenantId, Buffer.from(sealed, 'base64url'))).toString()
}
