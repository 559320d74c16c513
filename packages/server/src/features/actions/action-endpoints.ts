import {
  createAction as createContract,
  deleteAction as deleteContract,
  getAction as getContract,
  listActions as listContract,
} from '@kith/protocol'
import { bind, type Endpoint } from '#infra/http/index.ts'
import type { ActionPorts } from './action-event.ts'
import type { ActionFilter } from './action-filter.ts'
import { createdView } from './action-view.ts'
import { createAction } from './create-action.ts'
import { deleteAction } from './delete-action.ts'
import { getAction } from './get-action.ts'
import { listActions } from './list-actions.ts'

export function actionEndpoints(ports: ActionPorts): Endpoint[] {
  return [
    bind(listContract, ({ tenant, caller, query }) => {
      const { type, status, actionId, limit, cursor, offset, sortDir: direction, sort: _, ...rest } = query
      const filter: ActionFilter = { ...rest, types: type, statuses: status, actionIds: actionId }
      return listActions(ports, { tenant, caller, filter, limit, cursor, offset, direction })
    }),
    bind(createContract, async ({ tenant, caller, body }) => {
      const { idempotencyKey, ...input } = body
      return createdView(await createAction(ports, { tenant, caller, input, idempotencyKey }))
    }),
    bind(getContract, ({ tenant, caller, params }) =>
      getAction(ports, { tenant, caller, actionId: params.actionId }),
    ),
    bind(deleteContract, async ({ tenant, caller, params }) => {
      await deleteAction(ports, { tenant, caller, actionId: params.actionId })
      return 'ok' as const
    }),
  ]
}
