export type { StoredAction } from './action.ts'
export { actionEndpoints } from './action-endpoints.ts'
export type { ActionEvent, ActionPorts } from './action-event.ts'
export { type SweepDeps, sweepActions, sweepActionsJob } from './action-jobs.ts'
export { findStoredAction } from './action-store.ts'
export { actionsMigrations } from './actions-migrations.ts'
export { type CreateAction, createAction } from './create-action.ts'
export { getOwnAction } from './delete-action.ts'
export { findConcerned } from './find-concerned.ts'
export { assertIssuer } from './issuer.ts'
export {
  type ReceivedAction,
  type ReceiveOutcome,
  type ReceivePorts,
  receiveAction,
} from './receive-action.ts'
