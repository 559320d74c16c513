import { type Expression, type SqlBool, sql } from 'kysely'
import { isInSilencedDomain, isSilencedIdentity } from './silenced-predicate.ts'
import type { Viewer } from './viewer.ts'
import { type Part, type Rule, readRule, type Trait } from './visibility-rules.ts'

/** The columns of `actions` and `action_recipients` on which reading depends. */
export interface ReadableTables {
  actions: {
    tenant_id: number
    action_id: string
    issuer_tag: string
    author_tag: string | null
    audience_tag: string | null
    audience: string | null
    within_id: string | null
    parent_id: string | null
    subject: string | null
    visibility: string | null
    status: string
    expires_at: number | null
    unverified: number
  }
  action_recipients: { tenant_id: number; action_id: string; id_tag: string }
}

type Condition = Expression<SqlBool>
/** Parts of the rule that are known before any row is read are not left to the database. */
type Compiled = boolean | Condition

interface Place {
  readonly viewer: Viewer
  /** The expressions for the viewer and the tenant: placeholders in prepared statements, values otherwise. */
  readonly viewerTag: Expression<string>
  readonly tenantTag: Expression<string>
  readonly action: string
}

const aliases = { root: 'readable_root', meant: 'readable_meant' } as const

/** Condition on rows of `actions`, under the alias `action`: the viewer may read them. It is made from the same table
 * as `canRead`, and is the same for viewers with the same facts. `names` replaces the tags by placeholders. */
export function isReadableBy(
  viewer: Viewer,
  action = 'actions',
  names?: { readonly viewerTag: Expression<string>; readonly tenantTag: Expression<string> },
): Condition {
  const place: Place = {
    viewer,
    viewerTag: names?.viewerTag ?? sql<string>`${viewer.idTag ?? ''}`,
    tenantTag: names?.tenantTag ?? sql<string>`${viewer.tenantTag}`,
    action,
  }
  const readable = toCondition(compile(readRule, place))
  if (viewer.idTag !== undefined) return readable
  // Viewers without an identity read P only, comments included. Saying so first lets the database use the index of
  // public actions.
  return sql<SqlBool>`${column(place, 'action', 'visibility')} = 'P' and (${readable})`
}

/** The key under which viewers share prepared statements. */
export function viewerShape({ facts }: Viewer): string {
  return [...facts].sort().join(' ')
}

/** Condition on rows of `actions`: published, neither deleted nor expired. `now`: Unix seconds. */
export function isLive(action: string, now: Expression<number>): Condition {
  const of = (name: string) => sql.ref(`${action}.${name}`)
  return sql<SqlBool>`${of('status')} in ('A', 'C') and (${of('expires_at')} is null or ${of('expires_at')} > ${now})`
}

function compile(rule: Rule, place: Place): Compiled {
  switch (rule.kind) {
    case 'fact':
      return place.viewer.facts.has(rule.fact)
    case 'not': {
      const negated = compile(rule.rule, place)
      return typeof negated === 'boolean' ? !negated : sql<SqlBool>`not (${negated})`
    }
    case 'all':
      return join(rule.rules, place, 'and')
    case 'any':
      return join(rule.rules, place, 'or')
    case 'with':
      return withOther(rule.other, compile(rule.rule, place), place)
    case 'trait':
      return compileTrait(rule.trait, place, rule.of)
  }
}

function join(rules: readonly Rule[], place: Place, operator: 'and' | 'or'): Compiled {
  const deciding = operator === 'or'
  const parts: Condition[] = []
  for (const rule of rules) {
    const part = compile(rule, place)
    if (part === deciding) return deciding
    if (typeof part !== 'boolean') parts.push(part)
  }
  const [first] = parts
  if (!first) return !deciding
  return parts.length === 1 ? first : sql<SqlBool>`(${sql.join(parts, sql.raw(` ${operator} `))})`
}

function withOther(other: keyof typeof aliases, condition: Compiled, place: Place): Compiled {
  if (condition === false) return false
  const it = (name: string) => column(place, other, name)
  const action = (name: string) => column(place, 'action', name)
  const isOther =
    other === 'root'
      ? sql<SqlBool>`${it('action_id')} = ${action('within_id')}`
      : sql<SqlBool>`${it('action_id')} in (${action('parent_id')}, ${action('subject')})`
  return sql<SqlBool>`exists (select 1 from actions as ${sql.ref(aliases[other])}
    where ${it('tenant_id')} = ${action('tenant_id')} and ${isOther} and ${toCondition(condition)})`
}

function compileTrait(trait: Trait, place: Place, of: Part): Compiled {
  const { viewer, viewerTag, tenantTag } = place
  const it = (name: string) => column(place, of, name)
  const isViewer = (name: string) => viewer.idTag !== undefined && sql<SqlBool>`${it(name)} = ${viewerTag}`
  switch (trait.is) {
    case 'visible-to':
      return trait.code === null
        ? sql<SqlBool>`${it('visibility')} is null`
        : sql<SqlBool>`coalesce(${it('visibility')}, '') = ${sql.lit(trait.code)}`
    case 'issued-by-tenant':
      return sql<SqlBool>`${it('issuer_tag')} = ${tenantTag}`
    case 'issued-by-viewer':
      return isViewer('issuer_tag')
    case 'authored-by-viewer':
      return viewer.idTag !== undefined && sql<SqlBool>`coalesce(${it('author_tag')}, '') = ${viewerTag}`
    case 'addressed-to-tenant':
      return isAddressedTo(tenantTag, it)
    case 'addressed-to-viewer':
      return viewer.idTag !== undefined && isAddressedTo(viewerTag, it)
    case 'about-tenant':
      return sql<SqlBool>`coalesce(${it('subject')}, '') = ${tenantTag}`
    case 'about-viewer':
      return viewer.idTag !== undefined && sql<SqlBool>`coalesce(${it('subject')}, '') = ${viewerTag}`
    case 'issuer-blocked':
      return sql<SqlBool>`(${it('issuer_tag')} <> ${tenantTag} and exists (select 1 from relations
        where relations.tenant_id = ${it('tenant_id')}
        and relations.id_tag = ${it('issuer_tag')} and relations.is_blocked_or_muted = 1
        and relations.blocked = 1))`
    case 'unverified':
      return sql<SqlBool>`${it('unverified')} = 1`
    case 'issuer-silenced':
      return isSilencedIdentity(it('issuer_tag'))
    case 'issuer-in-silenced-domain':
      return isInSilencedDomain(it('issuer_tag'))
    case 'issuer-connected':
      return sql<SqlBool>`exists (select 1 from relations where relations.tenant_id = ${it('tenant_id')}
        and relations.id_tag = ${it('issuer_tag')} and relations.connection = 'connected' and relations.blocked = 0)`
    case 'reposted-by-tenant':
      return sql<SqlBool>`exists (select 1 from actions as shown where shown.tenant_id = ${it('tenant_id')}
        and shown.issuer_tag = ${tenantTag} and shown.unique_key = 'REPOST ' || ${it('action_id')}
        and shown.unique_key is not null and shown.status in ('A', 'C') and coalesce(shown.visibility, '') = 'P'
        and shown.mismatched = 0)`
    case 'child':
      return sql<SqlBool>`${it('within_id')} is not null`
    case 'visible-like-root':
      return sql<SqlBool>`coalesce(${it('visibility')}, '') = coalesce(${column(place, 'root', 'visibility')}, '')`
  }
}

// Few actions have several addressees: the column `audience` shows whether the table of recipients must be read.
function isAddressedTo(tag: Expression<string>, it: (name: string) => Expression<unknown>): Condition {
  return sql<SqlBool>`(coalesce(${it('audience_tag')}, '') = ${tag} or (${it('audience')} is not null
    and exists (select 1 from action_recipients where action_recipients.tenant_id = ${it('tenant_id')}
    and action_recipients.action_id = ${it('action_id')} and action_recipients.id_tag = ${tag})))`
}

function column(place: Place, of: Part, name: string): Expression<unknown> {
  return sql.ref(`${of === 'action' ? place.action : aliases[of]}.${name}`)
}

function toCondition(compiled: Compiled): Condition {
  return typeof compiled === 'boolean' ? (compiled ? sql<SqlBool>`true` : sql<SqlBool>`false`) : compiled
}
