import { canonicalText, type RtdbAggregate, type RtdbGroup } from '@kith/protocol'
import type { ReadDocument } from '../engine/values.ts'
import type { Interest, Scope } from './listener-index.ts'
import type { Subscription } from './subscription.ts'

/** What is subscribed to. */
export interface ViewSpec extends Interest {
  readonly scope: Scope
  readonly select: readonly string[] | undefined
  readonly aggregate: RtdbAggregate | undefined
}

/** What is there when a subscription begins: the state at exactly `seq`. */
export interface FirstState {
  readonly seq: number
  /** The document that is exactly at the path. */
  readonly document?: ReadDocument
  readonly data: readonly (ReadDocument | RtdbGroup)[]
}

/** What several subscriptions look at in the same way: worked out once for all of them. */
export interface View extends Interest {
  readonly spec: ViewSpec
  /** Bounded by the subscriptions that may be open. */
  readonly subscriptions: Set<Subscription>
  /** Reads what a new subscription is shown first. */
  begin(): Promise<FirstState>
}

/** The same for specifications that mean the same. */
export function keyOfView(spec: ViewSpec): string {
  const { path, scope, filter, select, aggregate } = spec
  return canonicalText([path, scope, filter ?? null, select ?? null, aggregate ?? null])
}
