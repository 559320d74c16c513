import { accountsSealed, referencesSealed } from '#features/accounts/index.ts'
import { leaveDeletedText } from '#features/actions/index.ts'
import { isOfPresentFile } from '#features/files/index.ts'
import { vapidKeysSealed } from '#features/push/index.ts'
import { settingsSealed } from '#features/settings/index.ts'
import { listTenantTables, type Reader, type TableShape, type TenantRow } from '#infra/db/index.ts'
import { type SealedColumn, signingKeysSealed } from '#infra/keys/index.ts'

/** What the JSON text of a column holds. */
export type JsonForm = 'texts' | 'object' | 'any'

/** A table whose rows go along with their tenant. */
export interface MovedTable extends TableShape {
  /** Only rows with these values go along. */
  readonly only?: Readonly<Record<string, string>>
  /** Only rows that meet this condition leave, in portable SQL; undefined: all. `now` is Unix seconds. */
  readonly leaving?: (now: number) => string
  /** A row as it leaves. */
  readonly outgoing?: (row: TenantRow) => TenantRow
  /** Its column with secrets that open here alone. */
  readonly sealed?: SealedColumn
  /** Its columns of JSON text. */
  readonly json?: Readonly<Record<string, JsonForm>>
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
  'search_backlog',
  'fan_outs',
  'exports',
  'visited_hosts',
  'visitor_logouts',
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
  'action_views',
  // Of readers: what is there counts as read by the tenant.
  'action_reads',
  'comment_reads',
  // Of browsers, which ask for it anew when somebody signs in.
  'push_subscriptions',
  // Made anew from the actions.
  'action_texts',
  'action_recipients',
  'action_attachments',
  'action_tags',
  'app_offers',
  // Counted anew from files and blobs.
  'storage_usage',
  // Found anew by the sweep of shares.
  'share_bases',
]

// Of the sessions only the API keys: people sign in anew, and a session that was ended must not come back.
const partlyMoved: Readonly<Record<string, MovedTable['only']>> = { sessions: { method: 'apikey' } }

// What was deleted for good and is taken away after a while, in portions, stays behind.
const leavingRows: Readonly<Record<string, MovedTable['leaving']>> = {
  blobs: () => 'uses > 0',
  refs: (now) => `(expires_at is null or expires_at > ${now})`,
  ...Object.fromEntries(
    [
      'crdt_documents',
      'crdt_snapshot_parts',
      'crdt_snapshots',
      'crdt_updates',
      'rtdb_databases',
      'rtdb_documents',
      'rtdb_index_entries',
      'rtdb_indexes',
      'rtdb_snapshot_parts',
      'rtdb_snapshots',
    ].map((table) => [table, () => isOfPresentFile(table)]),
  ),
}

const outgoingRows: Readonly<Record<string, MovedTable['outgoing']>> = { actions: leaveDeletedText }

// What means something here alone: when its person was on this server, credentials of sessions.
const stayingColumns: Readonly<Record<string, readonly string[]>> = {
  accounts: ['active_day'],
  files: ['made_with'],
  // The number of another tenant of this server.
  installed_apps: ['publisher_id'],
}

// The database keeps it as text, whatever stands there, and what reads it for all tenants at once must not fail because
// of one.
export const jsonColumns: Readonly<Record<string, Readonly<Record<string, JsonForm>>>> = {
  audit_log: { details: 'object' },
  conversations: { participants: 'texts' },
  crdt_snapshots: { writers: 'texts' },
  crdt_updates: { writers: 'texts' },
  files: { tags: 'texts' },
  installed_apps: { manifest: 'object', entries: 'any' },
  passkeys: { transports: 'texts' },
  rtdb_databases: { writers: 'texts' },
  rtdb_documents: { data: 'object' },
  rtdb_snapshots: { writers: 'texts' },
}

// In others no number is below zero.
export const signedColumns: readonly string[] = [
  'crdt_documents.uncounted_bytes',
  'files.created_at',
  'files.taken_at',
  // While it is being made.
  'rtdb_snapshots.stored_bytes',
]

// Null where a password is not to go along.
const guessableColumns: Readonly<Record<string, readonly string[]>> = {
  accounts: ['password_hash', 'password_set_at'],
}

// What actions are verified with.
const keysTable = 'signing_keys'

/** The tables whose rows make up a tenant: its keys first, then what others refer to. New tables are among them by
 * themselves. */
export async function listMovedTables(reader: Reader): Promise<MovedTable[]> {
  const tables = await listTenantTables(reader)
  const rest = tables.filter(({ name }) => !notExportedTables.includes(name) && name !== keysTable)
  const moved = [...tables.filter(({ name }) => name === keysTable), ...rest]
  for (const { name, columns } of moved)
    if (columns.some(({ kind }) => kind === 'other'))
      throw new Error(`The rows of ${name} cannot be moved: tell how they are made anew`)
  return moved.map((table) => {
    const only = partlyMoved[table.name]
    const sealed = sealedColumns.find((column) => column.table === table.name)
    const stays = stayingColumns[table.name]
    const guessable = guessableColumns[table.name]
    const json = jsonColumns[table.name]
    const leaving = leavingRows[table.name]
    const outgoing = outgoingRows[table.name]
    const columns = stays ? table.columns.filter(({ name }) => !stays.includes(name)) : table.columns
    return {
      ...table,
      columns,
      ...(only ? { only } : {}),
      ...(leaving ? { leaving } : {}),
      ...(outgoing ? { outgoing } : {}),
      ...(sealed ? { sealed } : {}),
      ...(json ? { json } : {}),
      ...(guessable ? { guessable } : {}),
    }
  })
}
