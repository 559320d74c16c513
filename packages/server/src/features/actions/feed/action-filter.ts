import type { ActionStatus, IdTag } from '@kith/protocol'
import type { Viewer } from '#features/relations/index.ts'

/** The filter of a list of actions. Times are Unix seconds. */
export interface ActionFilter {
  readonly types?: readonly string[] | undefined
  readonly statuses?: readonly ActionStatus[] | undefined
  readonly issuer?: IdTag | undefined
  readonly audience?: IdTag | undefined
  /** Issuer, audience or subject. */
  readonly involved?: IdTag | undefined
  readonly parentId?: string | undefined
  readonly rootId?: string | undefined
  readonly subject?: string | undefined
  readonly actionIds?: readonly string[] | undefined
  readonly tag?: string | undefined
  /** Words to find in the texts of an action. */
  readonly search?: string | undefined
  readonly createdAfter?: number | undefined
  readonly createdBefore?: number | undefined
  readonly excludeOwn?: boolean | undefined
}

export interface ActionOrder {
  readonly direction: 'asc' | 'desc'
  /** The place of the last action of the previous page. */
  readonly after?: ActionPlace | undefined
  readonly offset?: number | undefined
  readonly limit: number
}

/** The place of an action in the order of time. */
export interface ActionPlace {
  readonly createdAt: number
  readonly seq: number
}

/** An identity on a person's host that is not the person. Of third parties' actions it sees what the person's page
 * shows, and what it issued or received itself. */
export function isVisitor({ idTag, facts }: Viewer): boolean {
  return idTag !== undefined && !facts.has('acts-as-tenant') && !facts.has('community')
}

/** The requested statuses in which the viewer may see actions. C, N and P are for the tenant. `own` (drafts, scheduled
 * and deleted actions) are shown only where the viewer is the issuer. */
export function visibleStatuses(
  viewer: Viewer,
  asked: readonly ActionStatus[] | undefined,
): { readonly any: readonly ActionStatus[]; readonly own: readonly ActionStatus[] } {
  const actsAsTenant = viewer.facts.has('acts-as-tenant')
  const wanted = new Set(asked ?? (actsAsTenant ? ['A', 'C', 'N'] : ['A']))
  const shown = (statuses: readonly ActionStatus[]) => statuses.filter((status) => wanted.has(status))
  if (viewer.idTag === undefined) return { any: shown(['A']), own: [] }
  return { any: shown(actsAsTenant ? ['A', 'C', 'N', 'P'] : ['A']), own: shown(['R', 'S', 'D']) }
}
