import type { ActionId } from '@kith/protocol'
import type { Tenant } from '#infra/caller/index.ts'
import type { StoredAction } from './action.ts'

/** What happened to an action at the tenant of a transaction. `changed`: accepted, or no longer new. */
export interface ActionChange {
  readonly kind: 'action.created' | 'action.received' | 'action.changed' | 'action.deleted'
  readonly tenant: Tenant
  readonly action: StoredAction
}

/** An action has changed, or how often it was reacted to. */
export type ActionEvent = ActionChange | { readonly kind: 'action.counted'; readonly actionId: ActionId }
