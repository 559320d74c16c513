export { inboxEndpoints } from './inbox-endpoints.ts'
export { storeLaterJob, verifyLaterJob } from './inbox-jobs.ts'
export {
  type ReceiveDeps,
  receiveLocally,
  storeAtTenants,
  verifyWaitingToken,
} from './receive-token.ts'
export { type IssuerKey, type IssuerKeys, openTokenVerifier, type VerifyDeps } from './verify-token.ts'
