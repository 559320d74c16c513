export type { RtdbComputed, RtdbGroup, RtdbOperation, RtdbPresenceChange } from '@kith/protocol'
export { ConnectionLost } from '../realtime/connection-lost.ts'
export type {
  Attempt,
  ConnectionOptions,
  ConnectionState,
  SocketLike,
} from '../realtime/reconnecting-socket.ts'
export { Collection, DocumentHandle, Query, type Stored } from './collection.ts'
export type { QueryOperator } from './conditions.ts'
export {
  type ConnectedDatabase,
  connectDatabase,
  type DatabaseOptions,
  type DatabaseState,
} from './connect-database.ts'
export { RtdbError } from './database-socket.ts'
export type { DocumentChange } from './live-set.ts'
export type { Changes, Written } from './written.ts'
