import type { ActionId, IdTag } from '@kith/protocol'

/** A circle of a tenant: its connections, its followers, or everybody who was in one of these at some time and may hold
 * what was published. */
export type Circle = 'connections' | 'followers' | 'ever'

/** An action to be delivered: its issuer and its recipients. */
export interface Outgoing {
  readonly actionId: ActionId
  readonly issuerTag: IdTag
  /** The named recipients; as many as an action can name. */
  readonly named: readonly IdTag[]
  /** Also the members of a circle of the tenant, as of the time when their portion is written. */
  readonly circle?: Circle | undefined
  /** Members of the circle that do not receive it. */
  readonly leftOut?: readonly IdTag[] | undefined
  /** Unix seconds; at once when absent or past. */
  readonly notBefore?: number | undefined
  /** Does it end something? Such an action is sent even while the issuer is suspended. */
  readonly isEnding?: boolean
  /** For counts, the action that they are about: newer counts replace those that wait. */
  readonly countsOf?: ActionId | undefined
}

/** Fan-outs of one lane run one after the other, so that an issuer's actions reach each inbox in their order. Counts
 * need no order; each action's counts have a lane of their own, so they delay nothing else. */
export function laneOf({ issuerTag, countsOf }: Pick<Outgoing, 'issuerTag' | 'countsOf'>): string {
  return countsOf === undefined ? issuerTag : `counts ${countsOf}`
}
