import { createPublicKey, type KeyObject } from 'node:crypto'
import type { IdTag } from '@kith/protocol'
import { takeAccount, takeReference } from '#features/accounts/index.ts'
import {
  findConnectionRequest,
  putMovedActions,
  type ReadToken,
  readMovedAction,
} from '#features/actions/index.ts'
import { assertMovedApp, listOffer } from '#features/apps/index.ts'
import { putMovedTag, takeMovedBlob, takeMovedFile } from '#features/files/index.ts'
import { putMovedIdentity, takeGivenName } from '#features/idp/index.ts'
import { putMovedProfile } from '#features/profiles/index.ts'
import { putMovedRelation } from '#features/relations/index.ts'
import { takeSetting } from '#features/settings/index.ts'
import type { HostedTenant } from '#features/tenants/index.ts'
import type { MovedTable } from '#features/transfer/index.ts'
import { isBlobHash } from '#infra/blobs/index.ts'
import { insertTenantRows, type TenantRow, textIn, type Writer } from '#infra/db/index.ts'
import type { Signatures, SigningKeys } from '#infra/keys/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { invalid } from '#lib/failure.ts'

interface TakeDeps {
  readonly clock: Clock
  readonly signatures: Pick<Signatures, 'verify'>
  readonly signingKeys: Pick<SigningKeys, 'list'>
}

/** Checks rows of one table of an archive before anything is written; what it answers writes them for the tenant. */
type Take = (table: MovedTable, rows: readonly TenantRow[]) => Promise<(tx: Writer) => Promise<void>>

const folderChanges: readonly unknown[] = ['trashing', 'restoring', 'removing']

export interface RowTaker {
  readonly take: Take
  /** Rows that were left out: others' actions without a signature, settings that are no owner's. */
  readonly leftOut: { actions: number; settings: number }
  /** Rows to be written when everything else is there and has been looked at. */
  readonly late: readonly ((tx: Writer) => Promise<void>)[]
}

/** Says for each table of an archive which of its rows are stored here, and what is changed in them before. Anybody can
 * write an archive, so not everything in it is believed:
 * - What the person decides (a profile, settings, whom to follow or block) is stored as the archive has it.
 * - What a server decides (that a mail address is proved), and what follows from other rows or from bytes (sizes, who
 *   may read a comment), is found out anew here.
 * - What other identities have said is stored, but counts only once its signature has been verified. */
export function openRowTaker(deps: TakeDeps, tenant: HostedTenant): RowTaker {
  const leftOut = { actions: 0, settings: 0 }
  const late: RowTaker['late'][number][] = []
  const keys = new ArchiveKeys(deps, tenant)
  const { idTag } = tenant
  const now = nowSecs(deps.clock)
  const tables: Readonly<Record<string, Take>> = {
    actions: async (_, rows) => {
      const read = await Promise.all(
        rows.map((row) => readMovedAction({ tenant, now, isOwn: (token) => keys.hasSigned(token) }, row)),
      )
      const actions = read.filter((action) => action !== undefined)
      leftOut.actions += rows.length - actions.length
      return async (tx) => {
        await putMovedActions(tx, { tenant, actions })
        for (const { action } of actions) if (action.status === 'A') await listOffer(tx, { tenant, action })
      }
    },
    // A running server goes on with these: not before it is known that the folders come to an end.
    folder_changes: async (table, rows) => {
      const taken = rows.map(takeFolderChange)
      late.push((tx) => insertTenantRows(tx, table, taken))
      return async () => undefined
    },
    file_tags: each(putMovedTag),
    files: mapped((row) => takeMovedFile(row, tenant)),
    identity_keys: mapped((row) => takeGivenName(row, idTag)),
    managed_identities: each((tx, row) => putMovedIdentity(tx, { providerTag: idTag, row })),
    profiles: each((tx, row) => putMovedProfile(tx, { tenant, row })),
    relations: each(async (tx, row) => {
      const request = await findConnectionRequest(tx, textIn(row, 'id_tag') as IdTag, idTag)
      await putMovedRelation(tx, { tenant, row, hasRequest: request !== undefined })
    }),
    released_identities: mapped((row) => takeGivenName(row, idTag)),
    // API keys alone come along (`assertOnly`), and of the tenant itself: another's would sign that identity in here.
    sessions: async (table, rows) => {
      const own = rows.map((row) => assertOnly(table, row)).filter((row) => row.caller_tag === idTag)
      return (tx) => insertTenantRows(tx, table, own)
    },
    settings: async (table, rows) => {
      const taken = rows.map(takeSetting).filter((row) => row !== undefined)
      leftOut.settings += rows.length - taken.length
      return (tx) => insertTenantRows(tx, table, taken)
    },
  }
  const takeOf = ({ name }: MovedTable) => tables[name] ?? takeByForm[name] ?? mapped((row) => row)
  return { leftOut, late, take: (table, rows) => takeOf(table)(table, rows) }
}

/** The tables of which a row is looked at alone. */
const takeByForm: Readonly<Record<string, Take>> = {
  accounts: mapped(takeAccount),
  blobs: mapped(takeMovedBlob),
  file_variants: mapped(asserted(assertHash)),
  installed_apps: mapped(
    asserted((row) => {
      assertHash(row)
      assertMovedApp(row)
    }),
  ),
  refs: async (table, rows) => {
    const taken = rows.map(takeReference).filter((row) => row !== undefined)
    return (tx) => insertTenantRows(tx, table, taken)
  },
  // The others were being made.
  rtdb_snapshots: async (table, rows) => {
    const whole = rows.filter((row) => typeof row.stored_bytes === 'number' && row.stored_bytes >= 0)
    return (tx) => insertTenantRows(tx, table, whole)
  },
  signing_keys: mapped(takeSigningKey),
}

function mapped(change: (row: TenantRow, table: MovedTable) => TenantRow): Take {
  return async (table, rows) => {
    const taken = rows.map((row) => change(row, table))
    return (tx) => insertTenantRows(tx, table, taken)
  }
}

function each(put: (tx: Writer, row: TenantRow) => Promise<void>): Take {
  return async (_, rows) => async (tx) => {
    for (const row of rows) await put(tx, row)
  }
}

function asserted(assert: (row: TenantRow) => void): (row: TenantRow) => TenantRow {
  return (row) => {
    assert(row)
    return row
  }
}

/** What names bytes in another way would end a sweep over all tenants. */
function assertHash(row: TenantRow): void {
  if (!isBlobHash(textIn(row, 'blob_hash'))) throw invalid('/blob_hash', 'is no name of bytes')
}

/** Of some tables only some rows move. */
function assertOnly({ only = {} }: MovedTable, row: TenantRow): TenantRow {
  for (const [column, value] of Object.entries(only))
    if (row[column] !== value) throw invalid(`/${column}`, 'is of a row that does not move')
  return row
}

function takeSigningKey(row: TenantRow): TenantRow {
  if (!isP384(textIn(row, 'public_key'))) throw invalid('/public_key', 'is no P-384 key')
  return row
}

function isP384(publicKey: string): boolean {
  try {
    return createPublicKey(publicKey).asymmetricKeyDetails?.namedCurve === 'secp384r1'
  } catch {
    return false
  }
}

function takeFolderChange(row: TenantRow): TenantRow {
  if (!folderChanges.includes(row.kind)) throw invalid('/kind', 'is none of its words')
  return row
}

/** The keys of the archive, which stand before what they have signed. */
class ArchiveKeys {
  readonly #deps: TakeDeps
  readonly #tenant: HostedTenant
  #keys: ReadonlyMap<string, KeyObject> | undefined

  constructor(deps: TakeDeps, tenant: HostedTenant) {
    this.#deps = deps
    this.#tenant = tenant
  }

  /** Also with a key that was retired or revoked: whether it is still believed its readers decide. */
  async hasSigned({ parsed }: ReadToken): Promise<boolean> {
    this.#keys ??= await this.#list()
    const key = this.#keys.get(parsed.kid)
    return (
      key !== undefined && (await this.#deps.signatures.verify(parsed.signingInput, parsed.signature, key))
    )
  }

  async #list(): Promise<ReadonlyMap<string, KeyObject>> {
    const keys = await this.#deps.signingKeys.list(this.#tenant.tenantId)
    return new Map(keys.map(({ kid, publicKey }) => [kid, createPublicKey(publicKey)]))
  }
}
