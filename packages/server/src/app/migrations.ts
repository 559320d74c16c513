import { accountsMigrations } from '#features/accounts/index.ts'
import {
  actionSweepMigrations,
  actionsMigrations,
  attachmentIssuersMigrations,
  awaitedAttachmentsMigrations,
  callerMemoryMigrations,
  listIndexMigrations,
  pageMigrations,
  searchIndexMigrations,
  strangerRowsMigrations,
  tagTimesMigrations,
  tombstonesMigrations,
  uniqueTimesMigrations,
  visitorListMigrations,
} from '#features/actions/index.ts'
import { auditAgeMigrations, auditMigrations } from '#features/audit/index.ts'
import { busAgeMigrations, busMigrations } from '#features/bus/index.ts'
import { collectionsMigrations, openedAgeMigrations } from '#features/collections/index.ts'
import { domainBlocksMigrations } from '#features/domain-blocks/index.ts'
import {
  attachedByOwnerMigrations,
  filesMigrations,
  fileUpkeepMigrations,
  folderListMigrations,
  sharedFolderMigrations,
  trashMigrations,
  visitorFilesMigrations,
} from '#features/files/index.ts'
import { identitiesMigrations } from '#features/identities/index.ts'
import { idpMigrations } from '#features/idp/index.ts'
import { waitingTokensMigrations } from '#features/inbox/index.ts'
import { fanOutMigrations } from '#features/outbox/index.ts'
import { profileSweepMigrations, profilesMigrations } from '#features/profiles/index.ts'
import { pushMigrations } from '#features/push/index.ts'
import { referenceEndsMigrations, referencesMigrations } from '#features/references/index.ts'
import { registrationMigrations, restEndsMigrations } from '#features/registration/index.ts'
import {
  leadersMigrations,
  relationEndsMigrations,
  relationsMigrations,
  standingMigrations,
} from '#features/relations/index.ts'
import {
  homeSessionsMigrations,
  sessionEndsMigrations,
  sessionsMigrations,
} from '#features/sessions/index.ts'
import { settingsMigrations } from '#features/settings/index.ts'
import {
  copySubjectsMigrations,
  givenOnMigrations,
  shareBasesMigrations,
  sharesMigrations,
} from '#features/shares/index.ts'
import {
  qrApprovalMigrations,
  qrNetworksMigrations,
  signInEndsMigrations,
  signInMigrations,
} from '#features/sign-in/index.ts'
import { signInEpochMigrations, tenantsMigrations } from '#features/tenants/index.ts'
import { uploadsMigrations } from '#features/uploads/index.ts'
import type { Migration } from '#infra/db/index.ts'
import { finishedKeysMigrations, jobsMigrations } from '#infra/jobs/index.ts'
import { keysMigrations, revokedKeysMigrations } from '#infra/keys/index.ts'

/** Every migration of the program, in the order in which they are applied. New ones go to the end. */
export const migrations: readonly Migration[] = [
  ...keysMigrations,
  ...jobsMigrations,
  ...tenantsMigrations,
  ...auditMigrations,
  ...accountsMigrations,
  ...sessionsMigrations,
  ...referencesMigrations,
  ...signInMigrations,
  ...identitiesMigrations,
  ...relationsMigrations,
  ...profilesMigrations,
  ...actionsMigrations,
  ...filesMigrations,
  ...sharesMigrations,
  ...collectionsMigrations,
  ...domainBlocksMigrations,
  ...settingsMigrations,
  ...standingMigrations,
  ...registrationMigrations,
  ...uploadsMigrations,
  ...tagTimesMigrations,
  ...uniqueTimesMigrations,
  ...awaitedAttachmentsMigrations,
  ...idpMigrations,
  ...homeSessionsMigrations,
  ...pushMigrations,
  ...busMigrations,
  ...listIndexMigrations,
  ...folderListMigrations,
  ...leadersMigrations,
  ...visitorFilesMigrations,
  ...callerMemoryMigrations,
  ...sharedFolderMigrations,
  ...searchIndexMigrations,
  ...attachmentIssuersMigrations,
  ...attachedByOwnerMigrations,
  ...copySubjectsMigrations,
  ...qrNetworksMigrations,
  ...waitingTokensMigrations,
  ...tombstonesMigrations,
  ...signInEpochMigrations,
  ...qrApprovalMigrations,
  ...fileUpkeepMigrations,
  ...givenOnMigrations,
  ...revokedKeysMigrations,
  ...strangerRowsMigrations,
  ...pageMigrations,
  ...auditAgeMigrations,
  ...sessionEndsMigrations,
  ...referenceEndsMigrations,
  ...signInEndsMigrations,
  ...restEndsMigrations,
  ...busAgeMigrations,
  ...relationEndsMigrations,
  ...profileSweepMigrations,
  ...actionSweepMigrations,
  ...openedAgeMigrations,
  ...finishedKeysMigrations,
  ...fanOutMigrations,
  ...visitorListMigrations,
  ...shareBasesMigrations,
  ...trashMigrations,
]
