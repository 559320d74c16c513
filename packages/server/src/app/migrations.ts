import {
  accountsMigrations,
  activityMigrations,
  apiKeyUseMigrations,
  browserSessionsMigrations,
  visitsMigrations,
} from '#features/accounts/index.ts'
import {
  actionTableMigrations,
  endorsementMigrations,
  erasedActionsMigrations,
  linkInvitationsMigrations,
  searchBacklogMigrations,
  unverifiedActionsMigrations,
} from '#features/actions/index.ts'
import { statisticsMigrations } from '#features/admin/index.ts'
import { appsMigrations, heldOffersMigrations, offerWordsMigrations } from '#features/apps/index.ts'
import { auditMigrations } from '#features/audit/index.ts'
import { busMigrations } from '#features/bus/index.ts'
import { certificateAuthorityMigrations, certificatesMigrations } from '#features/certificates/index.ts'
import { conversationsMigrations } from '#features/conversations/index.ts'
import { databasesMigrations } from '#features/databases/index.ts'
import { documentCostMigrations, documentsMigrations } from '#features/documents/index.ts'
import { federationMigrations } from '#features/federation/index.ts'
import {
  fileDetailsMigrations,
  fileFoldingMigrations,
  fileOriginMigrations,
  fileTableMigrations,
  fileTextMigrations,
  storageKindsMigrations,
  takenMigrations,
  thumbhashMigrations,
} from '#features/files/index.ts'
import {
  graceMigrations,
  identitySearchMigrations,
  idpMigrations,
  zoneMigrations,
} from '#features/idp/index.ts'
import {
  profileFoldingMigrations,
  profileSearchMigrations,
  profileTableMigrations,
} from '#features/profiles/index.ts'
import { proxyMigrations } from '#features/proxy/index.ts'
import { pushMigrations, pushSubscriptionsMigrations, pushSweepMigrations } from '#features/push/index.ts'
import { registrationMigrations } from '#features/registration/index.ts'
import { claimedRolesMigrations, relationTableMigrations } from '#features/relations/index.ts'
import { settingsMigrations } from '#features/settings/index.ts'
import { hostedSinceMigrations, tenantTableMigrations, underWayMigrations } from '#features/tenants/index.ts'
import { exportsMigrations } from '#features/transfer/index.ts'
import type { Migration } from '#infra/db/index.ts'
import { jobLeasesMigrations, jobQueueMigrations } from '#infra/jobs/index.ts'
import { keysMigrations } from '#infra/keys/index.ts'

/** Every migration of the program, in the order in which they are applied. New ones go to the end, in lists of their own. */
export const migrations: readonly Migration[] = [
  ...keysMigrations,
  ...jobQueueMigrations,
  ...tenantTableMigrations,
  ...auditMigrations,
  ...accountsMigrations,
  ...federationMigrations,
  ...relationTableMigrations,
  ...profileTableMigrations,
  ...registrationMigrations,
  ...settingsMigrations,
  ...busMigrations,
  ...pushMigrations,
  ...actionTableMigrations,
  ...fileTableMigrations,
  ...idpMigrations,
  ...jobLeasesMigrations,
  ...documentsMigrations,
  ...databasesMigrations,
  ...pushSubscriptionsMigrations,
  ...documentCostMigrations,
  ...zoneMigrations,
  ...proxyMigrations,
  ...appsMigrations,
  ...certificatesMigrations,
  ...apiKeyUseMigrations,
  ...profileSearchMigrations,
  ...fileDetailsMigrations,
  ...browserSessionsMigrations,
  ...thumbhashMigrations,
  ...conversationsMigrations,
  ...takenMigrations,
  ...storageKindsMigrations,
  ...fileOriginMigrations,
  ...exportsMigrations,
  ...linkInvitationsMigrations,
  ...unverifiedActionsMigrations,
  ...claimedRolesMigrations,
  ...hostedSinceMigrations,
  ...endorsementMigrations,
  ...erasedActionsMigrations,
  ...activityMigrations,
  ...statisticsMigrations,
  ...pushSweepMigrations,
  ...underWayMigrations,
  ...certificateAuthorityMigrations,
  ...graceMigrations,
  ...heldOffersMigrations,
  ...visitsMigrations,
  ...profileFoldingMigrations,
  ...fileFoldingMigrations,
  ...identitySearchMigrations,
  ...searchBacklogMigrations,
  ...offerWordsMigrations,
  ...fileTextMigrations,
]
