import {
  type Action,
  type ActionId,
  acceptAction,
  type BodyOf,
  type CreatedAction,
  cancelAction,
  createAction,
  deleteAction,
  dismissAction,
  getAction,
  listActions,
  type NewAction,
  publishAction,
  type QueryOf,
  type ReactionKind,
  rejectAction,
  setReaction,
  setStat,
  updateAction,
} from '@kith/protocol'
import { findStoredAction } from '#features/actions/index.ts'
import type { HostedTenant } from '#features/tenants/index.ts'
import type { Caller } from '#infra/caller/index.ts'
import type { Database } from '#infra/db/index.ts'
import type { Endpoint } from '#infra/http/index.ts'
import { callEndpoint } from './call-endpoint.ts'

export type Actor = ReturnType<typeof actorAt>

/** A caller on a tenant's host, who calls the endpoints of actions. */
export function actorAt(
  at: { readonly db: Database; readonly endpoints: readonly Endpoint[] },
  tenant: HostedTenant,
  caller: Caller,
) {
  const call = { tenant, caller }
  return {
    tenant,
    caller,
    idTag: tenant.idTag,
    reader: at.db.reader(tenant.tenantId),
    as: (other: Caller) => actorAt(at, tenant, other),
    create: (body: NewAction): Promise<CreatedAction> =>
      callEndpoint(at.endpoints, createAction, { ...call, body }) as Promise<CreatedAction>,
    get: (actionId: string): Promise<Action> =>
      callEndpoint(at.endpoints, getAction, {
        ...call,
        params: { actionId: actionId as ActionId },
      }) as Promise<Action>,
    remove: (actionId: string) =>
      callEndpoint(at.endpoints, deleteAction, { ...call, params: { actionId: actionId as ActionId } }),
    update: (actionId: string, body: BodyOf<typeof updateAction>) =>
      callEndpoint(at.endpoints, updateAction, { ...call, ...about(actionId), body }),
    publish: (actionId: string, publishAt?: number) =>
      callEndpoint(at.endpoints, publishAction, {
        ...call,
        ...about(actionId),
        ...(publishAt === undefined ? {} : { body: { publishAt } }),
      }),
    cancel: (actionId: string) => callEndpoint(at.endpoints, cancelAction, { ...call, ...about(actionId) }),
    accept: (actionId: string) => callEndpoint(at.endpoints, acceptAction, { ...call, ...about(actionId) }),
    reject: (actionId: string) => callEndpoint(at.endpoints, rejectAction, { ...call, ...about(actionId) }),
    dismiss: (actionId: string) => callEndpoint(at.endpoints, dismissAction, { ...call, ...about(actionId) }),
    react: (actionId: string, type: ReactionKind | null) =>
      callEndpoint(at.endpoints, setReaction, { ...call, ...about(actionId), body: { type } }),
    setStat: (actionId: string, body: BodyOf<typeof setStat>) =>
      callEndpoint(at.endpoints, setStat, { ...call, ...about(actionId), body }),
    stored: (actionId: string) => findStoredAction(at.db.reader(tenant.tenantId), actionId as ActionId),
    list: async (query: Partial<QueryOf<typeof listActions>> = {}): Promise<Action[]> => {
      const page = await callEndpoint(at.endpoints, listActions, { ...call, query })
      return page.items as unknown as Action[]
    },
    page: (query: Partial<QueryOf<typeof listActions>>) =>
      callEndpoint(at.endpoints, listActions, { ...call, query }) as Promise<{
        items: Action[]
        nextCursor?: string | null
        total?: number
      }>,
  }
}

const about = (actionId: string) => ({ params: { actionId: actionId as ActionId } })
