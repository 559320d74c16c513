import type { ActionId, AppCapability, CursorPage, FileId, IdTag, OffsetPage } from '@kith/protocol'
import { type Expression, type SqlBool, sql } from 'kysely'
import type { ReadableTables } from '#features/relations/index.ts'
import { contains, keysetPage, type Reader, type Writer } from '#infra/db/index.ts'
import type { AppOffer } from './app-offer.ts'
import { isOffered, isShadowed, type OfferReader } from './offer-predicate.ts'
import { versionOrder } from './version-order.ts'

interface OfferRow {
  tenant_id: number
  action_id: string
  publisher_tag: string
  name: string
  version: string
  version_order: string
  file_id: string
  capabilities: string
  description: string | null
  tags: string
  titles: string | null
  descriptions: string | null
  file_types: string | null
  words: string
  created_at: number
}

export type OfferTables = ReadableTables & { app_offers: OfferRow }

/** Notes an offer that the tenant holds. `words`: what it is found by, each after a space. */
export async function insertOffer(tx: Writer, offer: AppOffer & { readonly words: string }): Promise<void> {
  await tx
    .tables<OfferTables>()
    .insertInto('app_offers')
    .values({
      tenant_id: tx.tenantId,
      action_id: offer.actionId,
      publisher_tag: offer.publisherTag,
      name: offer.name,
      version: offer.version,
      version_order: versionOrder(offer.version),
      file_id: offer.fileId,
      capabilities: JSON.stringify(offer.capabilities),
      description: offer.description ?? null,
      tags: JSON.stringify(offer.tags),
      titles: jsonOf(offer.titles),
      descriptions: jsonOf(offer.descriptions),
      file_types: jsonOf(offer.fileTypes),
      words: offer.words,
      created_at: offer.createdAt,
    })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

export async function deleteOffer(tx: Writer, actionId: ActionId): Promise<void> {
  await tx
    .tables<OfferTables>()
    .deleteFrom('app_offers')
    .where('tenant_id', '=', tx.tenantId)
    .where('action_id', '=', actionId)
    .execute()
}

/** Forgets all but the newest versions of an app. */
export async function deleteOldOffers(
  tx: Writer,
  { publisherTag, name }: Pick<AppOffer, 'publisherTag' | 'name'>,
  kept: number,
): Promise<void> {
  await tx
    .tables<OfferTables>()
    .deleteFrom('app_offers')
    .where('tenant_id', '=', tx.tenantId)
    .where('publisher_tag', '=', publisherTag)
    .where('name', '=', name)
    .where(
      sql<SqlBool>`(version_order, created_at, action_id) <= (select version_order, created_at, action_id
        from app_offers as n where n.tenant_id = ${tx.tenantId} and n.publisher_tag = ${publisherTag}
        and n.name = ${name} order by version_order desc, created_at desc, action_id desc
        limit 1 offset ${kept})`,
    )
    .execute()
}

/** The newest offer of an app that is shown to the reader. */
export async function findNewestOffer(
  reader: Reader,
  { publisherTag, name, ...to }: OfferReader & Pick<AppOffer, 'publisherTag' | 'name'>,
): Promise<AppOffer | undefined> {
  const row = await offersTo(reader, to)
    .where('o.publisher_tag', '=', publisherTag)
    .where('o.name', '=', name)
    .orderBy('o.version_order', 'desc')
    .orderBy('o.created_at', 'desc')
    .orderBy('o.action_id', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row && fromRow(row)
}

/** The offer that an action makes, when it is shown to the reader. */
export async function findOffer(
  reader: Reader,
  { actionId, ...to }: OfferReader & { readonly actionId: ActionId },
): Promise<AppOffer | undefined> {
  const row = await offersTo(reader, to).where('o.action_id', '=', actionId).executeTakeFirst()
  return row && fromRow(row)
}

function offersTo(reader: Reader, to: OfferReader) {
  return reader
    .tables<OfferTables>()
    .selectFrom('app_offers as o')
    .innerJoin('actions as a', (join) =>
      join.onRef('a.tenant_id', '=', 'o.tenant_id').onRef('a.action_id', '=', 'o.action_id'),
    )
    .select(shown)
    .where('o.tenant_id', '=', reader.tenantId)
    .where(isOffered(to, 'o', 'a'))
}

const shown = [
  'o.action_id',
  'o.publisher_tag',
  'o.name',
  'o.version',
  'o.file_id',
  'o.capabilities',
  'o.description',
  'o.tags',
  'o.titles',
  'o.descriptions',
  'o.file_types',
  'o.created_at',
] as const

export interface OfferListing extends OfferReader {
  /** Beginnings of words, all of which an offer must have. */
  readonly words: readonly string[]
  readonly isEmpty: boolean
  readonly limit: number
}

/** Of each app the newest version that is shown to the reader, the newest offer first. */
export async function pageOffers(
  reader: Reader,
  { cursor, ...listing }: OfferListing & { readonly cursor: string | undefined },
): Promise<CursorPage<AppOffer>> {
  const page = await keysetPage(
    newestOffers(reader, listing),
    { sort: 'created', column: 'o.created_at', kind: 'integer', idColumn: 'o.action_id', idKind: 'text' },
    { direction: 'desc', cursor, limit: listing.limit },
  )
  return { ...page, items: page.items.map(fromRow) }
}

/** The same from an offset on. The total is counted up to `maxTotal`. */
export async function listOffersFrom(
  reader: Reader,
  { offset, maxTotal, ...listing }: OfferListing & { readonly offset: number; readonly maxTotal: number },
): Promise<OffsetPage<AppOffer>> {
  const { limit } = listing
  const rows = await newestOffers(reader, listing)
    .orderBy('o.created_at', 'desc')
    .orderBy('o.action_id', 'desc')
    .limit(limit)
    .offset(offset)
    .execute()
  const counted = newestOffers(reader, listing).limit(maxTotal).as('counted')
  const { total } = await reader
    .tables<OfferTables>()
    .selectFrom(counted)
    .select((row) => row.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow()
  return { items: rows.map(fromRow), total: Number(total), offset, limit }
}

function newestOffers(reader: Reader, { words, isEmpty, ...to }: OfferListing) {
  return offersTo(reader, to)
    .where(sql<SqlBool>`not ${isShadowed(to)}`)
    .where(isEmpty ? sql<SqlBool>`1 = 0` : sql<SqlBool>`1 = 1`)
    .where((row) =>
      row.and(words.map((word): Expression<SqlBool> => contains(reader.dialect, 'o.words', ` ${word}`))),
    )
}

function fromRow(row: Omit<OfferRow, 'tenant_id' | 'version_order' | 'words'>): AppOffer {
  return {
    publisherTag: row.publisher_tag as IdTag,
    actionId: row.action_id as ActionId,
    name: row.name,
    version: row.version,
    fileId: row.file_id as FileId,
    capabilities: JSON.parse(row.capabilities) as AppCapability[],
    description: row.description ?? undefined,
    tags: JSON.parse(row.tags) as string[],
    ...(row.titles !== null && { titles: JSON.parse(row.titles) as Record<string, string> }),
    ...(row.descriptions !== null && {
      descriptions: JSON.parse(row.descriptions) as Record<string, string>,
    }),
    ...(row.file_types !== null && { fileTypes: JSON.parse(row.file_types) as string[] }),
    createdAt: row.created_at,
  }
}

function jsonOf(value: unknown): string | null {
  return value === undefined ? null : JSON.stringify(value)
}
