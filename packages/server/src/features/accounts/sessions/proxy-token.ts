import type { IdTag, RefusalReason } from '@kith/protocol'
import type { Tenant } from '#infra/caller/index.ts'
import type { SigningKeys } from '#infra/keys/index.ts'
import {
  findFault,
  type IdentityToken,
  type IdentityTokenDeps,
  readIdentityToken,
  type ShownToken,
  signIdentityToken,
} from './identity-token.ts'

/** What a proxy token says, once its issuer's signature is checked. */
export interface ProxyToken extends Omit<IdentityToken, 'sid' | 'claims'> {
  /** The session at the issuer's own tenant that it was made in: its id where that is a tenant of this server, and otherwise
   * the name that its server has for it here. */
  readonly homeSid?: string
  /** Was it made with an API key? */
  readonly isByKey: boolean
}

const byKey = 'apikey'

/** Signs a token that proves the tenant's identity to `target`. */
export async function mintProxyToken(
  keys: Pick<SigningKeys, 'sign'>,
  tenant: Tenant,
  {
    homeSid: sid,
    isByKey = false,
    ...token
  }: { target: IdTag; issuedAt: number; expiresAt: number; homeSid?: string | undefined; isByKey?: boolean },
): Promise<string> {
  const more = isByKey ? { via: byKey } : {}
  return signIdentityToken(keys, tenant, { ...token, use: 'proxy', sid, more })
}

/** A reason when the token was not made for this tenant by the identity it names, or is not valid now. */
export async function verifyProxyToken(
  deps: IdentityTokenDeps,
  tenant: Tenant,
  { asker, ...shown }: ShownToken & { readonly asker: string },
): Promise<ProxyToken | RefusalReason> {
  // It names the key to verify with, and spares the look-up for tokens that cannot be valid.
  const read = readIdentityToken('proxy', tenant, shown)
  if (typeof read === 'string') return read
  const fault = await findFault(deps, read, asker)
  if (fault) return fault
  const { claims, sid, ...claimed } = read.claimed
  return { ...claimed, isByKey: claims.via === byKey, ...(sid === undefined ? {} : { homeSid: sid }) }
}
