import {
  type AccountMailDeps,
  type ForgotPasswordDeps,
  handleAccountMails,
  handleForgottenPasswords,
  handleLogouts,
  type LogoutDeps,
  type ReferencesDeps,
  referencesEndpoints,
  type SignInDeps,
  signInEndpoints,
} from '#features/accounts/index.ts'
import { isAppInstalled } from '#features/apps/index.ts'
import { auditEndpoints } from '#features/audit/index.ts'
import { findLastKnownKey, findServerUrl } from '#features/federation/index.ts'
import { listLoginSettings } from '#features/settings/index.ts'
import type { Tenant } from '#infra/caller/index.ts'
import type { Endpoint, RateLimits } from '#infra/http/index.ts'
import type { JobQueue } from '#infra/jobs/index.ts'
import type { Addresses } from './addresses.ts'
import type { FileFeatures } from './file-features.ts'
import type { IdentityFeatures } from './identity-features.ts'
import type { Services } from './services.ts'
import { openSettingsMailer } from './settings-mailer.ts'

type SignInParts = SignInDeps &
  Omit<ReferencesDeps, 'findFileAccess'> &
  AccountMailDeps &
  ForgotPasswordDeps &
  LogoutDeps & {
    readonly jobs: JobQueue
    /** What a caller may do with a file and give on. */
    readonly findGrantableAccess: ReferencesDeps['findFileAccess']
  }

/** Sign-in, with its references, mails and audit trail. */
export function wireSignIn(parts: SignInParts): Endpoint[] {
  handleForgottenPasswords(parts.jobs, parts)
  handleAccountMails(parts.jobs, parts)
  handleLogouts(parts.jobs, parts)
  return [
    ...signInEndpoints(parts),
    ...referencesEndpoints({ ...parts, findFileAccess: parts.findGrantableAccess }),
    ...auditEndpoints(parts),
  ]
}

interface SignInNeighbours {
  readonly addresses: Addresses
  readonly rateLimits: RateLimits
  readonly files: FileFeatures
}

/** What signing in to a server needs of its other features. */
export function signInParts(
  services: Services,
  identity: IdentityFeatures,
  { addresses, rateLimits, files }: SignInNeighbours,
): SignInParts {
  const { db, clock, logger, vault, jobs, egress, signatures } = services
  const { signingKeys: keys, tokenSecrets: secrets } = services
  const { identities, settings } = identity
  return {
    ...identity,
    ...files.access,
    ...{ db, clock, logger, vault, jobs, keys, secrets, rateLimits, egress, signatures },
    isAppInstalled,
    mailer: openSettingsMailer(services, settings),
    serverUrlOf: ({ idTag }: Tenant) => addresses.serverUrl(idTag),
    findLanguage: (tenantId) => settings.find(tenantId, 'language'),
    listLoginSettings: (tenantId) => listLoginSettings(settings, tenantId),
    requiresVerifiedEmail: (tenantId) => settings.find(tenantId, 'auth.require_verified_email'),
    findServerUrl: (idTag, owner) => findServerUrl(identities, idTag, owner),
    findLastKnownKey: (idTag, kid, address) => findLastKnownKey({ db, identities }, { idTag, kid, address }),
  }
}
