import type { Visibility } from '@kith/protocol'
import type { Viewer } from './viewer.ts'
import { type Rule, readRule, type Trait } from './visibility-rules.ts'

/** The members of an action that decide who may read it. */
export interface ActionAudience {
  readonly issuerTag: string
  readonly authorTag: string | undefined
  readonly audienceTag: string | undefined
  readonly audience: readonly string[]
  readonly subject: string | undefined
  readonly visibility: Visibility
  /** The tenant that holds the action, or the server, blocks its issuer. */
  readonly isIssuerBlocked: boolean
  /** The tenant is connected with its issuer, and does not block it. */
  readonly isIssuerConnected?: boolean
  /** The tenant has reposted it publicly. */
  readonly isReposted?: boolean
  readonly isUnverified?: boolean
}

/** An action with its root: `absent` when the root is not held here. */
export interface BoundedAudience extends ActionAudience {
  readonly within?: ActionAudience | 'absent'
}

/** May the viewer read an action? Evaluates the same table as the SQL predicate. Whether the action is published,
 * deleted or expired is not checked here. */
export function canRead(viewer: Viewer, action: BoundedAudience): boolean {
  return holds(readRule, viewer, action)
}

function holds(rule: Rule, viewer: Viewer, action: BoundedAudience): boolean {
  switch (rule.kind) {
    case 'fact':
      return viewer.facts.has(rule.fact)
    case 'not':
      return !holds(rule.rule, viewer, action)
    case 'all':
      return rule.rules.every((part) => holds(part, viewer, action))
    case 'any':
      return rule.rules.some((part) => holds(part, viewer, action))
    case 'with-root':
      return typeof action.within === 'object' && holds(rule.rule, viewer, action)
    case 'trait':
      return hasTrait(rule.trait, viewer, action, rule.of)
  }
}

function hasTrait(trait: Trait, viewer: Viewer, action: BoundedAudience, of: 'action' | 'root'): boolean {
  const root = typeof action.within === 'object' ? action.within : undefined
  const it = of === 'action' ? action : root
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
