import type { Contract } from '../contract.ts'
import { accountExportContracts } from './account-export.ts'
import { actionContracts } from './actions.ts'
import { adminProfileContracts } from './admin-profiles.ts'
import { adminTenantContracts } from './admin-tenants.ts'
import { adminWorkContracts } from './admin-work.ts'
import { appContracts } from './apps.ts'
import { auditContracts } from './audit.ts'
import { collectionContracts } from './collections.ts'
import { communityContracts } from './communities.ts'
import { conversationContracts } from './conversations.ts'
import { federationContracts } from './federation.ts'
import { fileChangeContracts } from './file-changes.ts'
import { fileHistoryContracts } from './file-history.ts'
import { fileListContracts } from './file-lists.ts'
import { fileContracts } from './files.ts'
import { idpContracts } from './idp.ts'
import { identityKeyContracts } from './idp-keys.ts'
import { joinLinkContracts } from './join-links.ts'
import { profileContracts } from './profiles.ts'
import { proxySiteContracts } from './proxy-sites.ts'
import { pushContracts } from './push.ts'
import { referenceContracts } from './references.ts'
import { registrationContracts } from './registration.ts'
import { settingContracts } from './settings.ts'
import { shareContracts } from './shares.ts'
import { signInContracts } from './sign-in.ts'
import { uploadContracts } from './uploads.ts'

export * from './account-email.ts'
export * from './account-export.ts'
export {
  Action,
  ActionStat,
  type ActionStatus,
  type AttachedFile,
  actionStatuses,
  CreatedAction,
  NewAction,
  Visibility,
} from './action-shapes.ts'
export * from './actions.ts'
export * from './admin-profiles.ts'
export * from './admin-tenants.ts'
export * from './admin-work.ts'
export * from './apps.ts'
export * from './audit.ts'
export * from './collections.ts'
export * from './communities.ts'
export * from './conversations.ts'
export * from './deliveries.ts'
export * from './federation.ts'
export * from './file-changes.ts'
export * from './file-history.ts'
export * from './file-lists.ts'
export * from './files.ts'
export * from './idp.ts'
export * from './idp-keys.ts'
export * from './join-links.ts'
export * from './login-session.ts'
export * from './profiles.ts'
export * from './proxy-sites.ts'
export * from './push.ts'
export * from './references.ts'
export * from './registration.ts'
export * from './settings.ts'
export * from './shares.ts'
export * from './sign-in.ts'
export * from './sign-in-api-keys.ts'
export * from './sign-in-passkeys.ts'
export * from './sign-in-passwords.ts'
export * from './sign-in-qr.ts'
export * from './storage-usage.ts'
export * from './uploads.ts'

/** Every endpoint of the server. */
export const allContracts: readonly Contract[] = [
  ...signInContracts,
  ...profileContracts,
  ...registrationContracts,
  ...communityContracts,
  ...joinLinkContracts,
  ...adminProfileContracts,
  ...adminTenantContracts,
  ...adminWorkContracts,
  ...proxySiteContracts,
  ...actionContracts,
  ...conversationContracts,
  ...federationContracts,
  ...fileContracts,
  ...fileListContracts,
  ...fileChangeContracts,
  ...fileHistoryContracts,
  ...uploadContracts,
  ...shareContracts,
  ...collectionContracts,
  ...referenceContracts,
  ...settingContracts,
  ...idpContracts,
  ...identityKeyContracts,
  ...pushContracts,
  ...auditContracts,
  ...accountExportContracts,
  ...appContracts,
]
