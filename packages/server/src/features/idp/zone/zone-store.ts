import type { IdTag } from '@kith/protocol'
import type { Expression } from 'kysely'
import {
  type Reader,
  type ReadTables,
  serverTenant,
  statement,
  type TenantId,
  type Writer,
} from '#infra/db/index.ts'
import type { ResolvedIdentity } from './identity-records.ts'
import { reversedName } from './reversed-name.ts'

interface ZoneTables {
  managed_identities: {
    tenant_id: TenantId
    id_tag: IdTag
    address: string | null
    status: string
    dyndns: number
    reversed_name: string
  }
  zone_serials: { tenant_id: TenantId; serial: number }
}

interface ResolvedRow {
  readonly id_tag: IdTag
  readonly address: string
  readonly dyndns: number
}

const selectResolved = statement<ZoneTables, { tenantId: TenantId; idTag: IdTag }, ResolvedRow>(
  (tables, value) => resolved(tables, value('tenantId')).where('id_tag', '=', value('idTag')),
)

const selectBelow = statement<ZoneTables, { tenantId: TenantId; from: string; to: string }, ResolvedRow>(
  (tables, value) =>
    resolved(tables, value('tenantId'))
      .where('reversed_name', '>', value('from'))
      .where('reversed_name', '<', value('to'))
      .limit(1),
)

/** Raises the serial of the zone of `tx`; with that of the server every zone's. */
export async function raiseSerial(tx: Writer, now: number): Promise<void> {
  // That of the server counts from 1, since it is added to the others.
  const first = tx.tenantId === serverTenant ? 1 : await counterAt(tx, now)
  await tx
    .tables<ZoneTables>()
    .insertInto('zone_serials')
    .values({ tenant_id: tx.tenantId, serial: first })
    .onConflict((conflict) =>
      conflict.column('tenant_id').doUpdateSet((row) => ({
        serial: row
          .case()
          .when('zone_serials.serial', '<', first)
          .then(first)
          .else(row('zone_serials.serial', '+', 1))
          .end(),
      })),
    )
    .execute()
}

/** What makes the serial of a zone the time, at which a restored database is not behind what secondaries have seen. */
async function counterAt(tx: Writer, now: number): Promise<number> {
  const row = await tx
    .as(serverTenant)
    .tables<ZoneTables>()
    .selectFrom('zone_serials')
    .select('serial')
    .where('tenant_id', '=', serverTenant)
    .executeTakeFirst()
  return now - (row?.serial ?? 0)
}

/** Gives the zone of `tx` its first serial unless it has one: numbers that only count changes would be behind those of another
 * server that had the zone before. */
export async function beginSerial(tx: Writer, now: number): Promise<void> {
  await tx
    .tables<ZoneTables>()
    .insertInto('zone_serials')
    .values({ tenant_id: tx.tenantId, serial: await counterAt(tx, now) })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

/** Raises the serials of all zones to those of a change now. `tx` is the server's. */
export async function raiseOldSerials(tx: Writer, now: number): Promise<void> {
  const least = await counterAt(tx, now)
  await tx
    .tables<ZoneTables>()
    .updateTable('zone_serials')
    .set({ serial: least })
    .where('tenant_id', '<>', serverTenant)
    .where('serial', '<', least)
    .execute()
}

/** The serial of the reader's zone, which has 32 bits. */
export async function findSerial(reader: Reader): Promise<number> {
  const rows = await reader
    .tables<ZoneTables>()
    .selectFrom('zone_serials')
    .select('serial')
    .where('tenant_id', 'in', [reader.tenantId, serverTenant])
    .execute()
  return rows.reduce((sum, { serial }) => sum + serial, 1) % 2 ** 32
}

/** The counters of all zones, and of the server, which each change of them raises. */
export async function listCounters(reader: Reader): Promise<Map<TenantId, number>> {
  const rows = await reader
    .tables<ZoneTables>()
    .selectFrom('zone_serials')
    .select(['tenant_id', 'serial'])
    .execute()
  return new Map(rows.map((row) => [row.tenant_id, row.serial]))
}

/** The identity with this name, if it is active and has an address. */
export async function findResolved(reader: Reader, idTag: IdTag): Promise<ResolvedIdentity | undefined> {
  const row = await reader.first(selectResolved, { tenantId: reader.tenantId, idTag })
  return row && fromRow(row)
}

/** Those of the reader's provider in the order of their names. */
export async function listResolved(
  reader: Reader,
  { after, limit }: { readonly after: IdTag | undefined; readonly limit: number },
): Promise<ResolvedIdentity[]> {
  const all = resolved(reader.tables<ZoneTables>(), reader.tenantId)
  const query = after === undefined ? all : all.where('id_tag', '>', after)
  const rows = await query.orderBy('id_tag').limit(limit).execute()
  return rows.map(fromRow)
}

/** Are there such identities below a name? */
export async function hasNamesBelow(reader: Reader, name: string): Promise<boolean> {
  const prefix = reversedName(name)
  // Up to the character after the dot.
  const range = { from: `${prefix}.`, to: `${prefix}/` }
  return (await reader.first(selectBelow, { tenantId: reader.tenantId, ...range })) !== undefined
}

function resolved(
  tables: Pick<ReadTables<ZoneTables>, 'selectFrom'>,
  tenantId: TenantId | Expression<TenantId>,
) {
  return tables
    .selectFrom('managed_identities')
    .select(['id_tag', 'address', 'dyndns'])
    .where('tenant_id', '=', tenantId)
    .where('status', '=', 'active')
    .where('address', 'is not', null)
    .$narrowType<{ address: string }>()
}

function fromRow(row: ResolvedRow): ResolvedIdentity {
  return { idTag: row.id_tag, address: row.address, isDynamic: row.dyndns === 1 }
}
