import { type CommunityRole, type IdTag, type RefId, rolesUpTo, type Scope } from '@kith/protocol'
import type { Tenant } from '#infra/caller/index.ts'
import type { TokenSecrets } from '#infra/keys/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { type LocalTokenUse, mintLocalToken } from './local-token.ts'
import { earliest } from './session.ts'

export interface IssueDeps {
  readonly clock: Clock
  readonly secrets: Pick<TokenSecrets, 'current'>
}

interface TokenRequest {
  readonly use: LocalTokenUse
  readonly sid: string
  readonly callerTag?: IdTag | undefined
  readonly scope?: Scope | undefined
  readonly refId?: RefId | undefined
  readonly roles: readonly string[]
  readonly lifeSecs: number
  /** Ends that the token must not outlive. */
  readonly notAfter: readonly (number | undefined)[]
}

export interface IssuedToken {
  readonly token: string
  readonly expiresAt: number
}

/** Gives out a token of a session. */
export async function issueToken(
  { clock, secrets }: IssueDeps,
  tenant: Tenant,
  { use, sid, callerTag, scope, refId, roles, lifeSecs, notAfter }: TokenRequest,
): Promise<IssuedToken> {
  const issuedAt = nowSecs(clock)
  const expiresAt = earliest(issuedAt + lifeSecs, ...notAfter)
  const token = await mintLocalToken(secrets, tenant, {
    use,
    sid,
    roles,
    issuedAt,
    expiresAt,
    ...(callerTag === undefined ? {} : { callerTag }),
    ...(scope === undefined ? {} : { scope }),
    ...(refId === undefined ? {} : { refId }),
  })
  return { token, expiresAt }
}

/** The roles as tokens and the login answer carry them. */
export function rolesOf(
  tenant: Pick<Tenant, 'type'>,
  standing: { readonly role: CommunityRole; readonly isOwner: boolean; readonly isAdmin: boolean },
): string[] {
  const { role, isOwner, isAdmin } = standing
  return [
    ...(isOwner ? ['user'] : []),
    ...(isAdmin ? ['SADM'] : []),
    ...(tenant.type === 'community' ? rolesUpTo(role) : []),
  ]
}
