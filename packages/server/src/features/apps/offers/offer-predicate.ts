import { type Expression, type SqlBool, sql } from 'kysely'
import { isLive, isReadableBy, viewerShape } from '#features/relations/index.ts'
import type { Publisher } from './publishers.ts'

interface Aliases {
  readonly offer: string
  readonly action: string
}

/** Is the action under this alias published, neither deleted nor expired? `now`: Unix seconds. */
export function isOffered(action: string, now: number): Expression<SqlBool> {
  return isLive(action, sql<number>`${now}`)
}

/** Is the offer `o` one of these publishers'? The index of offers is read by this condition. */
export function isOfOneOf(publishers: readonly Publisher[]): Expression<SqlBool> {
  if (publishers.length === 0) return sql<SqlBool>`1 = 0`
  return sql<SqlBool>`o.tenant_id in (${tenantIdsOf(publishers)})`
}

function tenantIdsOf(publishers: readonly Publisher[]) {
  return sql.join(publishers.map(({ tenant }) => sql`${tenant.tenantId}`))
}

/** May the reader read the action that makes the offer? Publishers to whom the reader is the same kind of viewer share a
 * condition: a dozen at most. */
export function isOfferedTo(
  publishers: readonly Publisher[],
  { offer, action }: Aliases,
): Expression<SqlBool> {
  const groups = Object.values(Object.groupBy(publishers, ({ viewer }) => viewerShape(viewer)))
  const conditions = groups.flatMap((group) => {
    const [first] = group ?? []
    if (!group || !first) return []
    const readable = isReadableBy(first.viewer, action, {
      viewerTag: sql<string>`${first.viewer.idTag ?? ''}`,
      tenantTag: sql.ref(`${offer}.publisher_tag`),
    })
    return [sql<SqlBool>`(${sql.ref(`${offer}.tenant_id`)} in (${tenantIdsOf(group)}) and ${readable})`]
  })
  return conditions.length === 0 ? sql<SqlBool>`1 = 0` : sql<SqlBool>`(${sql.join(conditions, sql` or `)})`
}

/** Does the reader have a newer offer of the same app than `o`? */
export function isShadowed({
  publishers,
  now,
}: {
  readonly publishers: readonly Publisher[]
  readonly now: number
}): Expression<SqlBool> {
  return sql<SqlBool>`exists (select 1 from app_offers as n
    join actions as b on b.tenant_id = n.tenant_id and b.action_id = n.action_id
    where n.tenant_id = o.tenant_id and n.name = o.name
    and (n.version_order, n.created_at, n.action_id) > (o.version_order, o.created_at, o.action_id)
    and ${isOffered('b', now)} and ${isOfferedTo(publishers, { offer: 'n', action: 'b' })})`
}
