export type { ConnectedDocument, DocumentState } from '@kith/client/crdt'
export type {
  ConnectedDatabase,
  DatabaseState,
  RtdbOperation,
  RtdbPresenceChange,
  Stored,
} from '@kith/client/rtdb'
export { type AppFile, FileReadError } from './app-file.ts'
export { type ConnectOptions, connect } from './connect.ts'
export { followLook } from './follow-look.ts'
export type { App } from './hosted-app.ts'
export type { AppContext, EndReason, ReadFailure } from './messages/messages.ts'
