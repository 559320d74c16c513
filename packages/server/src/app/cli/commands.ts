import { backup } from './backup/backup.ts'
import { restore } from './backup/restore.ts'
import { migrateBlobs } from './blobs/migrate.ts'
import { verifyStoredBlobs } from './blobs/verify.ts'
import type { Command } from './command.ts'
import { config } from './config.ts'
import { doctor } from './doctor/doctor.ts'
import { revokeKey } from './keys/revoke.ts'
import { rotateKeys } from './keys/rotate.ts'
import { migrate } from './migrate.ts'
import { openapi } from './openapi.ts'
import { createRef } from './ref/create.ts'
import { serve } from './serve.ts'
import { createTenant } from './tenant/create.ts'
import { leader } from './tenant/leader.ts'
import { listTenants } from './tenant/list.ts'
import { changeTenantPassword } from './tenant/password.ts'
import { purge } from './tenant/purge.ts'
import { resume } from './tenant/resume.ts'
import { suspend } from './tenant/suspend.ts'
import { exportCommand } from './transfer/export.ts'
import { importCommand } from './transfer/import.ts'

/** Every command, in the order in which help and the manual show them. */
export const commands: readonly Command[] = [
  serve,
  createTenant,
  listTenants,
  suspend,
  resume,
  purge,
  changeTenantPassword,
  leader,
  createRef,
  rotateKeys,
  revokeKey,
  migrate,
  backup,
  restore,
  exportCommand,
  importCommand,
  verifyStoredBlobs,
  migrateBlobs,
  doctor,
  config,
  openapi,
]
