import type { IdTag } from '@kith/protocol'
import { type Expression, type SqlBool, sql } from 'kysely'
import { type Reader, serverTenant, statement } from '#infra/db/index.ts'
import type { Viewer } from './viewer.ts'
import type { Fact } from './visibility-rules.ts'

type Condition = Expression<SqlBool>

const server = sql.lit(serverTenant)
// Literals, as in the condition of the index.
const decisions = sql`from relations where relations.tenant_id = ${server} and relations.is_blocked_or_muted = 1
  and relations.blocked = 1`
const blockedDomains = sql`from domain_blocks where domain_blocks.tenant_id = ${server}`

/** Condition: an administrator of the server has blocked, suspended or banned this identity. */
export function isSilencedIdentity(idTag: Expression<unknown>): Condition {
  return sql<SqlBool>`exists (select 1 ${decisions} and relations.id_tag = ${idTag})`
}

/** Condition: an administrator of the server has blocked a domain in which this identity lies. The same on every database:
 * a label is cut off by its characters. */
export function isInSilencedDomain(idTag: Expression<unknown>): Condition {
  return sql<SqlBool>`(exists (select 1 ${blockedDomains}) and exists (
    with recursive above(name) as (
      select ${idTag} union all
      select substr(ltrim(name, 'abcdefghijklmnopqrstuvwxyz0123456789-_'), 2) from above where name <> '')
    select 1 from above where name in (select domain ${blockedDomains})))`
}

/** Condition: the server has silenced this identity. Where the viewer's facts say already that it silences no identity or
 * blocks no domain, that is left out of the query. */
export function isSilencedTo({ facts }: Viewer, idTag: Expression<unknown>): Condition {
  const parts = [
    ...(facts.has('silences-no-identity') ? [] : [isSilencedIdentity(idTag)]),
    ...(facts.has('silences-no-domain') ? [] : [isInSilencedDomain(idTag)]),
  ]
  return parts.length === 0 ? sql<SqlBool>`false` : sql<SqlBool>`(${sql.join(parts, sql` or `)})`
}

const asked = sql`(select 1 as once)`.as('asked')

const selectSilenced = statement<object, { idTag: string }, { once: number }>((tables, value) => {
  const idTag = sql`cast(${value('idTag')} as text)`
  return tables
    .selectFrom(asked)
    .select(sql<number>`1`.as('once'))
    .where(sql<SqlBool>`(${isSilencedIdentity(idTag)} or ${isInSilencedDomain(idTag)})`)
})

/** Has an administrator of the server silenced this identity, or a domain in which it lies? Every tenant's reader will
 * do. */
export async function isSilencedHere(reader: Reader, idTag: IdTag): Promise<boolean> {
  return (await reader.first(selectSilenced, { idTag })) !== undefined
}

const selectSilences = statement<object, object, { identities: number; domains: number }>((tables) =>
  tables
    .selectFrom(asked)
    .select([
      sql<number>`case when exists (select 1 ${decisions}) then 1 else 0 end`.as('identities'),
      sql<number>`case when exists (select 1 ${blockedDomains}) then 1 else 0 end`.as('domains'),
    ]),
)

/** Whether the server silences no identity, and whether it blocks no domain: a list is then asked without that. */
export async function findSilenceFacts(reader: Reader): Promise<Fact[]> {
  const { identities, domains } = (await reader.first(selectSilences, {})) ?? {
    identities: 1,
    domains: 1,
  }
  return [
    ...(identities === 0 ? ['silences-no-identity' as const] : []),
    ...(domains === 0 ? ['silences-no-domain' as const] : []),
  ]
}
