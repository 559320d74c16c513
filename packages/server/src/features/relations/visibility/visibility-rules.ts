import type { Visibility } from '@kith/protocol'

/** What is known about the viewer before an action is read. */
export type Fact =
  /** Has an identity. */
  | 'identified'
  /** May act for the tenant: its owner, a community's moderators. */
  | 'acts-as-tenant'
  /** Follows the tenant, is connected with it, or is a member of the community. */
  | 'follows'
  /** Is connected with the tenant, or contributes to the community. */
  | 'connected'
  /** The tenant is a community. */
  | 'community'
  /** The tenant or the server blocks or mutes somebody. Otherwise no issuer has to be looked up. */
  | 'has-blocks-or-mutes'
  /** No administrator has blocked, suspended or banned anybody for the whole server: no issuer has to be looked up. */
  | 'silences-no-identity'
  /** No administrator has blocked a domain. */
  | 'silences-no-domain'

/** What depends on the action. */
export type Trait =
  | { readonly is: 'visible-to'; readonly code: Visibility }
  | { readonly is: 'issued-by-tenant' | 'issued-by-viewer' | 'authored-by-viewer' }
  | { readonly is: 'addressed-to-tenant' | 'addressed-to-viewer' }
  | { readonly is: 'about-tenant' | 'about-viewer' }
  /** The tenant is connected with its issuer, and does not block it. */
  | { readonly is: 'issuer-connected' }
  /** The tenant has reposted it publicly. */
  | { readonly is: 'reposted-by-tenant' }
  /** The tenant blocks its issuer, or the server does for all tenants; never true of the tenant itself. */
  | { readonly is: 'issuer-blocked' }
  /** An administrator of the server has blocked, suspended or banned its issuer. */
  | { readonly is: 'issuer-silenced' }
  /** An administrator of the server has blocked a domain in which its issuer lies. */
  | { readonly is: 'issuer-in-silenced-domain' }
  /** An import has brought it along, and its signature has not been verified. */
  | { readonly is: 'unverified' }
  /** It is a comment, a reaction or an answer, and so never wider than its root. */
  | { readonly is: 'child' }
  /** Has the same visibility as its root. */
  | { readonly is: 'visible-like-root' }

/** The action itself, the root of its thread, or what it directly answers, reacts to or passes on. */
export type Part = 'action' | 'root' | 'meant'

/** `of`: whose a trait is. */
export type Rule =
  | { readonly kind: 'fact'; readonly fact: Fact }
  | { readonly kind: 'trait'; readonly trait: Trait; readonly of: Part }
  | { readonly kind: 'not'; readonly rule: Rule }
  | { readonly kind: 'all' | 'any'; readonly rules: readonly Rule[] }
  /** The root, or what is meant, is held here, and the rule is true of the action and of that. */
  | { readonly kind: 'with'; readonly other: Exclude<Part, 'action'>; readonly rule: Rule }

const fact = (name: Fact): Rule => ({ kind: 'fact', fact: name })
const all = (...rules: Rule[]): Rule => ({ kind: 'all', rules })
const any = (...rules: Rule[]): Rule => ({ kind: 'any', rules })
const not = (rule: Rule): Rule => ({ kind: 'not', rule })
const withRoot = (rule: Rule): Rule => ({ kind: 'with', other: 'root', rule })
const withMeant = (rule: Rule): Rule => ({ kind: 'with', other: 'meant', rule })

const actsAsTenant = fact('acts-as-tenant')

function traitsOf(of: Part) {
  return {
    trait: (is: Exclude<Trait['is'], 'visible-to'>): Rule => ({ kind: 'trait', trait: { is }, of }),
    visibleTo: (code: Visibility): Rule => ({ kind: 'trait', trait: { is: 'visible-to', code }, of }),
  }
}

/** The visibility of an action admits the viewer. */
function isOpenTo(of: 'action' | 'root'): Rule {
  const { trait, visibleTo } = traitsOf(of)
  /** Followers and connections are known here only for actions that the tenant issued, and members for actions that
   * were posted to this community. What third parties sent to their followers only the tenant itself reads. */
  const circle = (member: Rule): Rule =>
    any(
      actsAsTenant,
      all(trait('issued-by-tenant'), member),
      all(fact('community'), trait('addressed-to-tenant'), member),
    )
  return any(
    visibleTo('P'),
    all(visibleTo('V'), fact('identified')),
    all(visibleTo('F'), circle(fact('follows'))),
    all(visibleTo('C'), circle(fact('connected'))),
  )
}

function isSilenced(of: Part): Rule {
  const { trait } = traitsOf(of)
  return any(
    all(not(fact('silences-no-identity')), trait('issuer-silenced')),
    all(not(fact('silences-no-domain')), trait('issuer-in-silenced-domain')),
  )
}

/** What may not be its issuer's word, and what those have said whom the server silences, is read by the tenant alone. */
function isHeard(of: Part): Rule {
  return any(actsAsTenant, all(not(traitsOf(of).trait('unverified')), not(isSilenced(of))))
}

/** What is said about the words of a silenced issuer, which it may repeat. */
const isAboutHeard = any(
  actsAsTenant,
  all(fact('silences-no-identity'), fact('silences-no-domain')),
  not(withMeant(isSilenced('meant'))),
)

/** docs/protocol/visibility.md for one action by itself. */
function alone(of: 'action' | 'root') {
  const { trait, visibleTo } = traitsOf(of)
  const issuedByTenant = trait('issued-by-tenant')
  const isIssuer = any(
    trait('issued-by-viewer'),
    trait('authored-by-viewer'),
    all(actsAsTenant, issuedByTenant),
  )
  const isAddressed = any(trait('addressed-to-viewer'), all(actsAsTenant, trait('addressed-to-tenant')))
  const isSubject = any(trait('about-viewer'), all(actsAsTenant, trait('about-tenant')))
  /** A tenant's own block prevails over every visibility but P. Blocked viewers are treated as guests, so only blocked
   * issuers matter here: members of a community do not read them, while its moderators do, because they have to remove
   * what such issuers left. */
  const appliesBlock = any(
    all(fact('community'), not(actsAsTenant)),
    all(not(fact('community')), actsAsTenant),
  )
  const isUnblocked = any(
    visibleTo('P'),
    not(all(fact('has-blocks-or-mutes'), appliesBlock, trait('issuer-blocked'))),
  )
  /** Visitors of a person read third parties' actions there only if a connection addressed them to the person, or the
   * person has reposted them publicly. */
  const isOnPage = any(
    fact('community'),
    actsAsTenant,
    issuedByTenant,
    all(trait('addressed-to-tenant'), trait('issuer-connected')),
    all(visibleTo('P'), trait('reposted-by-tenant')),
  )
  const isOpen = isOpenTo(of)
  const isForViewer = any(isIssuer, isAddressed, all(visibleTo(null), isSubject))
  return {
    isIssuer,
    isAddressed,
    isUnblocked,
    issuedByTenant,
    isOnPage,
    isForViewer,
    mayRead: all(isUnblocked, any(all(isOpen, isOnPage), isForViewer)),
    /** The same without regard to the page. */
    mayReadAnywhere: all(isUnblocked, any(isOpen, isForViewer)),
    isChild: trait('child'),
    isVisibleLikeRoot: trait('visible-like-root'),
  }
}

const own = alone('action')
const root = alone('root')

/** Who may read an action: the one table from which `canRead` and the SQL predicate are made. */
export const readRule: Rule = all(
  any(
    all(not(own.isChild), own.mayRead),
    all(
      own.isChild,
      own.isUnblocked,
      any(
        own.isIssuer,
        withRoot(
          all(
            isHeard('root'),
            root.mayReadAnywhere,
            any(own.isVisibleLikeRoot, own.mayReadAnywhere),
            // What is said under a person's own action is on that person's page.
            any(root.issuedByTenant, own.isForViewer, own.isOnPage),
          ),
        ),
        // Without the root nobody can tell who its readers are.
        all(not(withRoot(all())), any(own.isAddressed, fact('acts-as-tenant'))),
      ),
    ),
  ),
  isHeard('action'),
  isAboutHeard,
)
