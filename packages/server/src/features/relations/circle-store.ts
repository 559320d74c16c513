import type { IdTag } from '@kith/protocol'
import { sql } from 'kysely'
import { isListed, type Reader, statement, type TenantId } from '#infra/db/index.ts'
import { isInCircle, type RelationTables } from './relation-store.ts'

// The conditions of the partial indexes.
const circles = {
  connections: isInCircle,
  followers: isInCircle,
  ever: sql<boolean>`reached = 1`,
} as const

interface PageValues {
  readonly tenantId: number
  readonly after: string
  readonly limit: number
}

function pageOf(circle: keyof typeof circles) {
  return statement<RelationTables, PageValues, { id_tag: string }>((tables, value) =>
    tables
      .selectFrom('relations')
      .select('id_tag')
      .where('tenant_id', '=', value('tenantId'))
      .where(circles[circle])
      .where('id_tag', '>', value('after'))
      .orderBy('id_tag')
      .limit(value('limit')),
  )
}

const inCirclePage = pageOf('followers')
const circlePages = { connections: inCirclePage, followers: inCirclePage, ever: pageOf('ever') }

const isConnected = sql<boolean>`(role in ('contributor', 'moderator', 'leader')
  or (role is null and connection = 'connected'))`

const selectConnected = statement<RelationTables, { tenantId: number; idTags: string }, { id_tag: string }>(
  (tables, value, dialect) =>
    tables
      .selectFrom('relations')
      .select('id_tag')
      .where('tenant_id', '=', value('tenantId'))
      .where(isListed(dialect, 'id_tag', value('idTags')))
      .where(isInCircle)
      .where(isConnected)
      .orderBy('id_tag'),
)

function countOf(circle: keyof typeof circles) {
  return statement<RelationTables, { tenantId: number; atMost: number }, { count: number }>((tables, value) =>
    tables
      .selectFrom((members) =>
        members
          .selectFrom('relations')
          .select('id_tag')
          .where('tenant_id', '=', value('tenantId'))
          .where(circles[circle])
          .$if(circle === 'connections', (query) => query.where(isConnected))
          .limit(value('atMost'))
          .as('members'),
      )
      .select((members) => members.fn.countAll<number>().as('count')),
  )
}

const circleCounts = {
  connections: countOf('connections'),
  followers: countOf('followers'),
  ever: countOf('ever'),
}

// NOTE: over all tenants: the tenants that receive what an identity publishes.
const selectReceivers = statement<
  RelationTables,
  { idTag: string },
  { tenant_id: number; connection: string }
>((tables, value) =>
  tables
    .selectFrom('relations')
    .select(['tenant_id', 'connection'])
    .where('id_tag', '=', value('idTag'))
    .where(sql<boolean>`is_source = 1`),
)

/** Who receives what the tenant publishes. `connections`: in a community contributors and higher roles. `followers`:
 * these as well as followers; in a community everybody with a role. Neither includes blocked identities. `ever`:
 * everybody who was in a circle at some time and may hold what was published. */
export type Circle = keyof typeof circles

/** Members of a circle in the order of their names. `limit` bounds the rows that are read: a page of connections may
 * have fewer members, or none. `next`: where the next page begins, if there may be one. */
export async function listCircle(
  reader: Reader,
  circle: Circle,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<{ readonly idTags: readonly IdTag[]; readonly next?: IdTag }> {
  const { tenantId } = reader
  const page = await reader.run(circlePages[circle], { tenantId, after, limit })
  const idTags = page.map((row) => row.id_tag as IdTag)
  const next = page.length < limit ? undefined : idTags.at(-1)
  const members = circle === 'connections' ? await onlyConnected(reader, idTags) : idTags
  return { idTags: members, ...(next === undefined ? {} : { next }) }
}

async function onlyConnected(reader: Reader, idTags: readonly IdTag[]): Promise<IdTag[]> {
  if (idTags.length === 0) return []
  const { tenantId } = reader
  const rows = await reader.run(selectConnected, { tenantId, idTags: JSON.stringify(idTags) })
  return rows.map((row) => row.id_tag as IdTag)
}

/** The number of members of a circle, counted no further than `atMost`. */
export async function countCircle(reader: Reader, circle: Circle, atMost: number): Promise<number> {
  const row = await reader.first(circleCounts[circle], { tenantId: reader.tenantId, atMost })
  return row?.count ?? 0
}

/** The tenants of this server that follow an identity or are connected with it and do not block it; with `connections`
 * only those that are connected. */
export async function listReceivers(
  reader: Reader,
  issuerTag: IdTag,
  reach: 'followers' | 'connections' = 'followers',
): Promise<TenantId[]> {
  const rows = await reader.run(selectReceivers, { idTag: issuerTag })
  const reached = reach === 'followers' ? rows : rows.filter(({ connection }) => connection === 'connected')
  return reached.map((row) => row.tenant_id as TenantId)
}
