import type { ActionId } from '@kith/protocol'
import type { Tenant } from '#infra/caller/index.ts'
import type { StoredAction } from './action.ts'

/** A change of an action at the tenant of a transaction. `changed`: its status, or its mark. */
export interface ActionChange {
  readonly kind: 'action.created' | 'action.received' | 'action.changed' | 'action.deleted'
  readonly tenant: Tenant
  readonly action: StoredAction
}

/** An action has changed, or its counts. */
export type ActionEvent = ActionChange | { readonly kind: 'action.counted'; readonly actionId: ActionId }
