import { accountsSealed, referencesSealed } from '#features/accounts/index.ts'
import { pushTargetsSealed, vapidKeysSealed } from '#features/push/index.ts'
import { settingsSealed } from '#features/settings/index.ts'
import { listTenantTables, type Reader, type TableShape } from '#infra/db/index.ts'
import { type SealedColumn, signingKeysSealed } from '#infra/keys/index.ts'

/** A table whose rows go along with their tenant. */
export interface MovedTable extends TableShape {
  /** Only rows with these values go along. */
  readonly only?: Readonly<Record<string, string>>
  /** Its column with secrets that open here alone. */
  readonly sealed?: SealedColumn
  /** Its columns from which the password could be guessed. */
  readonly guessable?: readonly string[]
}

/** Every column of sealed secrets in a table with rows of tenants. */
export const sealedColumns: readonly SealedColumn[] = [
  signingKeysSealed,
  accountsSealed,
  referencesSealed,
  settingsSealed,
  vapidKeysSealed,
  pushTargetsSealed,
]

/** What belongs to this server and not to the tenant, or to something that is under way here. */
export const notExportedTables: readonly string[] = [
  // Moved in a form of its own.
  'tenants',
  'jobs',
  // The server's.
  'server_admins',
  'token_secrets',
  'identities',
  'domain_blocks',
  'proxy_sites',
  'certificates',
  'acme_accounts',
  'acme_challenges',
  'tombstones',
  'unfinished_registrations',
  'quarantined_names',
  // People sign in anew.
  'browser_sessions',
  // Under way.
  'fan_outs',
  'exports',
  'waiting_tokens',
  'attempt_buckets',
  'qr_sessions',
  'passkey_challenges',
  'idempotency_keys',
  'storage_reservations',
  'blob_claims',
  'uploads',
  'bus_logs',
  'bus_events',
  'rtdb_locks',
  'rtdb_changes',
  'rtdb_transactions',
  // Of today alone.
  'stranger_rows',
  // Made anew from the actions.
  'action_texts',
  // Found anew by the sweep of shares.
  'share_bases',
]

// Of the sessions only the API keys: people sign in anew, and a session that was ended must not come back.
const partlyMoved: Readonly<Record<string, MovedTable['only']>> = { sessions: { method: 'apikey' } }

// What means something here alone: credentials of sessions.
const stayingColumns: Readonly<Record<string, readonly string[]>> = {
  files: ['made_with'],
  // The number of another tenant of this server.
  installed_apps: ['publisher_id'],
}

// Null where a password is not to go along.
const guessableColumns: Readonly<Record<string, readonly string[]>> = {
  accounts: ['password_hash', 'password_set_at'],
}

/** The tables whose rows make up a tenant, what others refer to first. New tables are among them by themselves. */
export async function listMovedTables(reader: Reader): Promise<MovedTable[]> {
  const tables = await listTenantTables(reader)
  const moved = tables.filter(({ name }) => !notExportedTables.includes(name))
  for (const { name, columns } of moved)
    if (columns.some(({ kind }) => kind === 'other'))
      throw new Error(`The rows of ${name} cannot be moved: tell how they are made anew`)
  return moved.map((table) => {
    const only = partlyMoved[table.name]
    const sealed = sealedColumns.find((column) => column.table === table.name)
    const stays = stayingColumns[table.name]
    const guessable = guessableColumns[table.name]
    const columns = stays ? table.columns.filter(({ name }) => !stays.includes(name)) : table.columns
    return {
      ...table,
      columns,
      ...(only ? { only } : {}),
      ...(sealed ? { sealed } : {}),
      ...(guessable ? { guessable } : {}),
    }
  })
}
