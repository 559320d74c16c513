import type { Visibility } from '@kith/protocol'
import type { Viewer } from './viewer.ts'
import { type Part, type Rule, readRule, type Trait } from './visibility-rules.ts'

/** The members of an action that decide who may read it. */
export interface ActionAudience {
  readonly issuerTag: string
  readonly authorTag: string | undefined
  readonly audienceTag: string | undefined
  readonly audience: readonly string[]
  readonly subject: string | undefined
  readonly visibility: Visibility
  /** The tenant that holds the action blocks its issuer. */
  readonly isIssuerBlocked: boolean
  /** The tenant is connected with its issuer, and does not block it. */
  readonly isIssuerConnected?: boolean
  /** The tenant has reposted it publicly. */
  readonly isReposted?: boolean
  readonly isUnverified?: boolean
  /** The server has silenced its issuer, or a domain in which that lies. */
  readonly isIssuerSilenced?: boolean
}

/** An action with its root: `absent` when the root is not held here. */
export interface BoundedAudience extends ActionAudience {
  readonly within?: ActionAudience | 'absent'
  /** The actions that it answers, reacts to or passes on, as far as the tenant holds them. */
  readonly meant?: readonly ActionAudience[]
}

/** May the viewer read an action? Evaluates the same table as the SQL predicate. Whether the action is published,
 * deleted or expired is not checked here. */
export function canRead(viewer: Viewer, action: BoundedAudience): boolean {
  return holds(readRule, viewer, { action })
}

type Parts = { readonly action: BoundedAudience } & { readonly [part in Part]?: ActionAudience | undefined }

function holds(rule: Rule, viewer: Viewer, parts: Parts): boolean {
  switch (rule.kind) {
    case 'fact':
      return viewer.facts.has(rule.fact)
    case 'not':
      return !holds(rule.rule, viewer, parts)
    case 'all':
      return rule.rules.every((part) => holds(part, viewer, parts))
    case 'any':
      return rule.rules.some((part) => holds(part, viewer, parts))
    case 'with':
      return othersOf(rule.other, parts.action).some((other) =>
        holds(rule.rule, viewer, { ...parts, [rule.other]: other }),
      )
    case 'trait':
      return hasTrait(rule.trait, viewer, parts, rule.of)
  }
}

function othersOf(other: Exclude<Part, 'action'>, { within, meant = [] }: BoundedAudience) {
  if (other === 'meant') return meant
  return typeof within === 'object' ? [within] : []
}

function hasTrait(trait: Trait, viewer: Viewer, parts: Parts, of: Part): boolean {
  const { action, root } = parts
  const it = parts[of]
  if (!it) return false
  const addressed = (tag: string | undefined) =>
    tag !== undefined && (it.audienceTag === tag || it.audience.includes(tag))
  switch (trait.is) {
    case 'visible-to':
      return it.visibility === trait.code
    case 'issued-by-tenant':
      return it.issuerTag === viewer.tenantTag
    case 'issued-by-viewer':
      return viewer.idTag !== undefined && it.issuerTag === viewer.idTag
    case 'authored-by-viewer':
      return viewer.idTag !== undefined && it.authorTag === viewer.idTag
    case 'addressed-to-tenant':
      return addressed(viewer.tenantTag)
    case 'addressed-to-viewer':
      return addressed(viewer.idTag)
    case 'about-tenant':
      return it.subject === viewer.tenantTag
    case 'about-viewer':
      return viewer.idTag !== undefined && it.subject === viewer.idTag
    case 'issuer-blocked':
      return it.isIssuerBlocked
    case 'unverified':
      return it.isUnverified === true
    case 'issuer-silenced':
    case 'issuer-in-silenced-domain':
      return it.isIssuerSilenced === true
    case 'issuer-connected':
      return it.isIssuerConnected === true
    case 'reposted-by-tenant':
      return it.isReposted === true
    case 'child':
      return action.within !== undefined
    case 'visible-like-root':
      return root !== undefined && action.visibility === root.visibility
  }
}
