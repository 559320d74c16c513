import {
  acceptAction,
  cancelAction,
  createAction as createContract,
  deleteAction as deleteContract,
  dismissAction as dismissContract,
  getAction as getContract,
  listActions as listContract,
  publishAction,
  rejectAction,
  setReaction as setReactionContract,
  setStat as setStatContract,
  updateAction,
} from '@kith/protocol'
import { bind, type Endpoint } from '#infra/http/index.ts'
import type { ActionPorts } from './action-ports.ts'
import { changedView, createdView } from './action-view.ts'
import { answerAction, dismissAction } from './compose/answer-action.ts'
import { cancelPublication, publishDraft, updateDraft } from './compose/change-draft.ts'
import { createAction } from './compose/create-action.ts'
import { setReaction, setStat } from './compose/set-reaction.ts'
import type { ActionFilter } from './feed/action-filter.ts'
import { getAction } from './feed/get-action.ts'
import { listActions } from './feed/list-actions.ts'
import { ViewCounter } from './feed/view-counter.ts'
import { deleteAction } from './removal/delete-action.ts'

export function actionEndpoints(ports: ActionPorts): Endpoint[] {
  return [
    ...readEndpoints(ports),
    ...writeEndpoints(ports),
    ...draftEndpoints(ports),
    ...answerEndpoints(ports),
  ]
}

function readEndpoints(ports: ActionPorts): Endpoint[] {
  const deps = { ...ports, viewCounter: new ViewCounter(ports) }
  return [
    bind(listContract, ({ tenant, caller, query }) => {
      const { type, status, actionId, limit, cursor, offset, sortDir: direction, sort: _, ...rest } = query
      const filter: ActionFilter = { ...rest, types: type, statuses: status, actionIds: actionId }
      return listActions(ports, { tenant, caller, filter, limit, cursor, offset, direction })
    }),
    bind(getContract, ({ tenant, caller, params, ip }) =>
      getAction(deps, { tenant, caller, actionId: params.actionId, address: ip }),
    ),
  ]
}

function writeEndpoints(ports: ActionPorts): Endpoint[] {
  return [
    bind(createContract, async ({ tenant, caller, body }) => {
      const { idempotencyKey, draft, publishAt, published, ...input } = body
      const request = { tenant, caller, input, idempotencyKey, draft, publishAt, published }
      return createdView(await createAction(ports, request))
    }),
    bind(deleteContract, async ({ tenant, caller, params, query }) => {
      await deleteAction(ports, { tenant, caller, actionId: params.actionId, reason: query.reason })
      return 'ok' as const
    }),
    bind(setReactionContract, async ({ tenant, caller, params, body }) => {
      const { actionId } = params
      return { actionId, stat: await setReaction(ports, { tenant, caller, actionId }, body.type) }
    }),
    bind(setStatContract, ({ tenant, caller, params, body, ip }) =>
      setStat(ports, { tenant, caller, ip, actionId: params.actionId }, body),
    ),
  ]
}

function draftEndpoints(ports: ActionPorts): Endpoint[] {
  return [
    bind(updateAction, async ({ tenant, caller, params, body }) => {
      const action = await updateDraft(ports, { tenant, caller, actionId: params.actionId }, body)
      const { content } = action
      return { ...changedView(action), ...(content === undefined ? {} : { content }) }
    }),
    bind(publishAction, async ({ tenant, caller, params, body }) => {
      const request = { tenant, caller, actionId: params.actionId }
      return changedView(await publishDraft(ports, request, body?.publishAt))
    }),
    bind(cancelAction, async ({ tenant, caller, params }) =>
      changedView(await cancelPublication(ports, { tenant, caller, actionId: params.actionId })),
    ),
  ]
}

function answerEndpoints(ports: ActionPorts): Endpoint[] {
  return [
    bind(acceptAction, async ({ tenant, caller, params }) =>
      changedView(await answerAction(ports, { tenant, caller, actionId: params.actionId }, 'accept')),
    ),
    bind(rejectAction, async ({ tenant, caller, params }) =>
      changedView(await answerAction(ports, { tenant, caller, actionId: params.actionId }, 'reject')),
    ),
    bind(dismissContract, async ({ tenant, caller, params }) => {
      await dismissAction(ports, { tenant, caller, actionId: params.actionId })
      return null
    }),
  ]
}
