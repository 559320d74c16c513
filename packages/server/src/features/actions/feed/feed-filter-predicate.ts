import { type Expression, type SqlBool, sql } from 'kysely'
import type { Viewer } from '#features/relations/index.ts'
import { serverTenant } from '#infra/db/index.ts'
import { comparePlace } from '../search/search-query-store.ts'
import type { ActionFilter } from './action-filter.ts'
import { type Condition, type Source, timeOf, type Value } from './branch-pages-store.ts'

// The same text as in the indexes: SQLite recognizes a partial index by its text.
export const hasSeveral = sql<SqlBool>`a.audience is not null`

/** Filters that are checked on each row, written so that no database uses an index for them. */
export function residual(
  { types, issuer, audience, involved, tag }: ActionFilter,
  value: Value,
): Condition[] {
  const conditions: (Condition | false)[] = [
    types !== undefined && isAmong(sql`coalesce(a.type, '')`, valuesOf('type', types, value)),
    issuer !== undefined && sql<SqlBool>`coalesce(a.issuer_tag, '') = ${value('issuer')}`,
    audience !== undefined && isAddressedTo(value('audience')),
    involved !== undefined &&
      sql<SqlBool>`(coalesce(a.issuer_tag, '') = ${value('involved')}
        or coalesce(a.subject, '') = ${value('involved')} or ${isAddressedTo(value('involved'))})`,
    tag !== undefined &&
      sql<SqlBool>`exists (select 1 from action_tags as t where t.tenant_id = a.tenant_id
        and t.action_id = a.action_id and t.tag = ${value('tag')})`,
  ]
  return conditions.filter((condition) => condition !== false)
}

/** Filters on one parent, root or subject or on ids, written so that their indexes are used. */
export function narrowConditions(
  { parentId, rootId, subject, actionIds }: ActionFilter,
  value: Value,
): Condition[] {
  const conditions: (Condition | false)[] = [
    parentId !== undefined && sql<SqlBool>`a.parent_id = ${value('parentId')}`,
    rootId !== undefined && sql<SqlBool>`a.root_id = ${value('rootId')}`,
    subject !== undefined && sql<SqlBool>`a.subject = ${value('subject')}`,
    ...meantConditions({ parentId, rootId, subject }),
    actionIds !== undefined && isAmong(sql`a.action_id`, valuesOf('action_id', actionIds, value)),
  ]
  return conditions.filter((condition) => condition !== false)
}

/** The same filters, checked on each row. */
export function narrowResidual(
  { parentId, rootId, subject, actionIds }: ActionFilter,
  value: Value,
): Condition[] {
  const conditions: (Condition | false)[] = [
    parentId !== undefined && sql<SqlBool>`coalesce(a.parent_id, '') = ${value('parentId')}`,
    rootId !== undefined && sql<SqlBool>`coalesce(a.root_id, '') = ${value('rootId')}`,
    subject !== undefined && sql<SqlBool>`coalesce(a.subject, '') = ${value('subject')}`,
    ...meantConditions({ parentId, rootId, subject }),
    actionIds !== undefined &&
      isAmong(sql`coalesce(a.action_id, '')`, valuesOf('action_id', actionIds, value)),
  ]
  return conditions.filter((condition) => condition !== false)
}

/** What is listed under an action was said of what is held of it. A message stays in its conversation. */
function meantConditions({ parentId, rootId, subject }: ActionFilter): Condition[] {
  if (parentId !== undefined || subject !== undefined) return [sql<SqlBool>`a.mismatched = 0`]
  return rootId === undefined ? [] : [sql<SqlBool>`(a.mismatched = 0 or a.type = 'MSG')`]
}

/** Conditions that all branches share. */
export function plainConditions(viewer: Viewer, filter: ActionFilter, value: Value): Condition[] {
  const conditions: (Condition | false)[] = [
    ...(filter.excludeOwn ? exceptOwn(viewer, value) : []),
    hidesMuted(viewer, filter) && isNotMuted(value),
  ]
  return conditions.filter((condition) => condition !== false)
}

export function timeConditions(
  from: Source,
  { createdAfter, createdBefore }: ActionFilter,
  value: Value,
): Condition[] {
  const time = timeOf(from)
  if (from === 'matches') return matchTimeConditions({ createdAfter, createdBefore }, value)
  return [
    ...(createdAfter === undefined ? [] : [sql<SqlBool>`${time} > ${value('createdAfter')}`]),
    ...(createdBefore === undefined ? [] : [sql<SqlBool>`${time} < ${value('createdBefore')}`]),
  ]
}

/** In the search index a time is a range of rowids. */
function matchTimeConditions(
  { createdAfter, createdBefore }: Pick<ActionFilter, 'createdAfter' | 'createdBefore'>,
  value: Value,
): Condition[] {
  const next = sql`${value('createdAfter')} + 1`
  const first = sql.lit(0)
  return [
    ...(createdAfter === undefined ? [] : [comparePlace('>', { createdAt: next, seq: first })]),
    ...(createdBefore === undefined
      ? []
      : [comparePlace('<', { createdAt: value('createdBefore'), seq: first })]),
  ]
}

function valuesOf(name: 'type' | 'action_id', words: readonly string[], value: Value) {
  return words.map((_, at) => value(`${name}${at}`))
}

function isAmong(it: Expression<unknown>, values: readonly Expression<unknown>[]): Condition {
  if (values.length === 0) return sql<SqlBool>`false`
  return values.length === 1
    ? sql<SqlBool>`${it} = ${values[0]}`
    : sql<SqlBool>`${it} in (${sql.join(values)})`
}

function isAddressedTo(tag: Expression<unknown>): Condition {
  return sql<SqlBool>`(coalesce(a.audience_tag, '') = ${tag} or (${hasSeveral} and ${isRecipient(tag)}))`
}

export function isRecipient(tag: Expression<unknown>): Condition {
  return sql<SqlBool>`exists (select 1 from action_recipients as r where r.tenant_id = a.tenant_id
    and r.action_id = a.action_id and r.id_tag = ${tag})`
}

function exceptOwn(viewer: Viewer, value: Value): Condition[] {
  if (viewer.idTag === undefined) return []
  const byTenant = viewer.facts.has('acts-as-tenant')
    ? [sql<SqlBool>`a.issuer_tag <> ${value('tenantTag')}`]
    : []
  return [sql<SqlBool>`a.issuer_tag <> ${value('viewerTag')}`, ...byTenant]
}

/** Mutes change the tenant's own lists only, so that others cannot infer them from what is missing. In a community they
 * change everybody's lists but those of the muted identity. A list by one issuer shows the issuer even if muted. */
function hidesMuted(viewer: Viewer, filter: ActionFilter): boolean {
  return viewer.facts.has('has-blocks-or-mutes') && filter.issuer === undefined
}

function isNotMuted(value: Value): Condition {
  return sql<SqlBool>`(a.issuer_tag in (${value('tenantTag')}, ${value('viewerTag')}) or not exists (
    select 1 from relations as m where m.tenant_id in (a.tenant_id, ${sql.lit(serverTenant)})
    and m.id_tag = a.issuer_tag and m.is_blocked_or_muted = 1 and m.muted = 1))`
}
