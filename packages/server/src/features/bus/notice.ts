import type { ActionId, ActionStatus, BusEventName, FileId, IdTag } from '@kith/protocol'
import type { ProfileMember } from '#features/profiles/index.ts'

/** What happened to a tenant, with no more than is needed to find it: what a client is shown is read when it is sent, as
 * far as its account may read it then. */
export type Notice =
  | { readonly kind: 'ACTION'; readonly actionId: ActionId }
  | {
      readonly kind: 'ACTION_STATUS'
      readonly actionId: ActionId
      readonly status: ActionStatus
      /** Its issuer and its target. */
      readonly to: readonly IdTag[]
    }
  | { readonly kind: 'STAT'; readonly actionId: ActionId }
  | { readonly kind: 'CONVERSATION'; readonly conversationId: string }
  | {
      readonly kind: 'FILE'
      readonly fileId: FileId
      readonly event: 'created' | 'updated' | 'deleted' | 'shared' | 'unshared'
      /** Its owner, and those it is shared with, besides the tenant. */
      readonly to: readonly IdTag[]
    }
  | { readonly kind: 'PROFILE'; readonly idTag: IdTag; readonly changed: readonly ProfileMember[] }
  | { readonly kind: 'SETTING'; readonly name: string; readonly to: readonly IdTag[] }
  | {
      readonly kind: 'SESSION'
      readonly event: 'signed-in' | 'revoked'
      readonly sid: string
      readonly to: readonly IdTag[]
    }

// Not kept for clients that come back: they read counts anew, and list sessions.
const passing: ReadonlySet<BusEventName> = new Set(['STAT', 'SESSION'])

/** Is it kept for clients that come back? */
export function isKept({ kind }: Notice): boolean {
  return !passing.has(kind)
}
