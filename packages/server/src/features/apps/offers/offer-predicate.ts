import { type Expression, type SqlBool, sql } from 'kysely'
import { isLive, isReadableBy, isSilencedTo, type Viewer } from '#features/relations/index.ts'

/** To whom offers are shown. */
export interface OfferReader {
  readonly viewer: Viewer
  /** Unix seconds. */
  readonly now: number
}

type Condition = Expression<SqlBool>

/** Is the offer under the alias `offer`, made by the action under the alias `action`, shown to the reader? It is, as long as
 * the action stands and the reader may read it, where the publisher is the tenant or chosen by it. */
export function isOffered({ viewer, now }: OfferReader, offer: string, action: string): Condition {
  const tag = sql.ref(`${offer}.publisher_tag`)
  // `feed_only` is what others said to the owner of a host, and not to those who come there.
  const isShown = viewer.facts.has('acts-as-tenant') ? sql`true` : sql`${sql.ref(`${action}.feed_only`)} = 0`
  const isOthers = sql`${isShown} and ${isChosen(offer)} and not ${isSilencedTo(viewer, tag)}`
  return sql<SqlBool>`(${isLive(action, sql<number>`${now}`)} and ${isReadableBy(viewer, action)}
    and (${tag} = ${viewer.tenantTag} or (${isOthers})))`
}

/** Does the tenant follow the publisher of this offer, is it connected with it, or has it the app already? */
function isChosen(offer: string): Condition {
  const it = (name: string) => sql.ref(`${offer}.${name}`)
  const relation = sql`select 1 from relations where relations.tenant_id = ${it('tenant_id')}
    and relations.id_tag = ${it('publisher_tag')}`
  return sql<SqlBool>`(not exists (${relation} and relations.blocked = 1)
    and (exists (${relation} and (relations.following = 1 or relations.connection = 'connected'))
    or exists (select 1 from installed_apps as present where present.tenant_id = ${it('tenant_id')}
    and present.publisher_tag = ${it('publisher_tag')} and present.name = ${it('name')})))`
}

/** Is the reader shown a newer offer of the same app than the one under the alias `o`? */
export function isShadowed(reader: OfferReader): Condition {
  return sql<SqlBool>`exists (select 1 from app_offers as n
    join actions as b on b.tenant_id = n.tenant_id and b.action_id = n.action_id
    where n.tenant_id = o.tenant_id and n.publisher_tag = o.publisher_tag and n.name = o.name
    and (n.version_order, n.created_at, n.action_id) > (o.version_order, o.created_at, o.action_id)
    and ${isOffered(reader, 'n', 'b')})`
}
