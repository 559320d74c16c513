import { devApp } from './app/dev/dev.ts'
import { initApp } from './app/init.ts'
import { installExamples } from './app/install-examples.ts'
import { packApp } from './app/pack.ts'
import { publishApp } from './app/publish.ts'
import { backup } from './backup/backup.ts'
import { restore } from './backup/restore.ts'
import { migrateBlobs } from './blobs/migrate.ts'
import { verifyStoredBlobs } from './blobs/verify.ts'
import { listCertificates } from './certificate/list.ts'
import { renewCertificates } from './certificate/renew.ts'
import type { Command } from './command.ts'
import { config } from './config.ts'
import { dnsZone } from './dns/zone.ts'
import { doctor } from './doctor/doctor.ts'
import { blockDomainCommand, listDomains, unblockDomainCommand } from './domain/domain.ts'
import { listIdentities, setIdentity } from './identity/identity.ts'
import { revokeKey } from './keys/revoke.ts'
import { rotateKeys } from './keys/rotate.ts'
import { mailTest } from './mail/send-test.ts'
import { migrate } from './migrate.ts'
import { openapi } from './openapi.ts'
import { createRef } from './ref/create.ts'
import { serve } from './serve.ts'
import { settingsGet } from './settings/get.ts'
import { settingsList } from './settings/list.ts'
import { settingsReset } from './settings/reset.ts'
import { settingsSet } from './settings/set.ts'
import { addSite, disableSite, enableSite, removeSite, setSite } from './site/change.ts'
import { checkSiteCommand } from './site/check.ts'
import { listSitesCommand, showSite } from './site/show.ts'
import { status } from './status.ts'
import { resume, suspend } from './tenant/change-status.ts'
import { createTenant } from './tenant/create.ts'
import { changeTenantEmail } from './tenant/email.ts'
import { leader } from './tenant/leader.ts'
import { listTenants } from './tenant/list.ts'
import { changeTenantPassword } from './tenant/password.ts'
import { purge } from './tenant/purge.ts'
import { changeRole } from './tenant/role.ts'
import { exportCommand } from './transfer/export.ts'
import { importCommand } from './transfer/import.ts'
import { deliveries } from './work/deliveries.ts'
import { discardJobCommand, listJobsCommand, retryJobCommand } from './work/jobs.ts'
import { stats } from './work/stats.ts'
import { storage } from './work/storage.ts'

/** Every command, in the order in which help and the manual show them. */
export const commands: readonly Command[] = [
  serve,
  status,
  createTenant,
  listTenants,
  suspend,
  resume,
  purge,
  changeTenantPassword,
  changeTenantEmail,
  leader,
  changeRole,
  createRef,
  rotateKeys,
  revokeKey,
  settingsList,
  settingsGet,
  settingsSet,
  settingsReset,
  mailTest,
  listJobsCommand,
  retryJobCommand,
  discardJobCommand,
  deliveries,
  listIdentities,
  setIdentity,
  listDomains,
  blockDomainCommand,
  unblockDomainCommand,
  stats,
  storage,
  listSitesCommand,
  showSite,
  addSite,
  setSite,
  enableSite,
  disableSite,
  removeSite,
  checkSiteCommand,
  dnsZone,
  listCertificates,
  renewCertificates,
  migrate,
  backup,
  restore,
  exportCommand,
  importCommand,
  verifyStoredBlobs,
  migrateBlobs,
  initApp,
  devApp,
  packApp,
  publishApp,
  installExamples,
  doctor,
  config,
  openapi,
]
