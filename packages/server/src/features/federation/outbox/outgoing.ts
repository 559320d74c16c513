import type { ActionId, IdTag } from '@kith/protocol'

/** A circle of a tenant: who contributes, who follows, or who did at some time and may hold what was published. */
export type Circle = 'connections' | 'followers' | 'ever'

/** An action on its way: whose it is, and who is to have it. */
export interface Outgoing {
  readonly actionId: ActionId
  readonly issuerTag: IdTag
  /** By name; as many as an action can name. */
  readonly named: readonly IdTag[]
  /** And the members of a circle of the tenant, as they are when their portion is written. */
  readonly circle?: Circle | undefined
  /** Who is in the circle and does not get it. */
  readonly leftOut?: readonly IdTag[] | undefined
  /** Unix seconds; at once when absent or past. */
  readonly notBefore?: number | undefined
  /** Does it say that something has ended? That leaves also while the issuer is suspended. */
  readonly isEnding?: boolean
  /** Where it is the word on the counts of an action: the newest word takes the place of one that waits. */
  readonly countsOf?: ActionId | undefined
}

/** Fan-outs of one lane go one after the other, so that an issuer's actions reach each inbox in their order. Counts keep
 * no order, and hold up nothing. */
export function laneOf({ issuerTag, countsOf }: Pick<Outgoing, 'issuerTag' | 'countsOf'>): string {
  return countsOf === undefined ? issuerTag : `counts ${countsOf}`
}
