export type { RtdbGroup, RtdbOperation, RtdbPresenceChange } from '@kith/protocol'
export type { ConnectionOptions, ConnectionState, SocketLike } from '../realtime/reconnecting-socket.ts'
export { Collection, DocumentHandle, Query, type Stored } from './collection.ts'
export {
  type ConnectedDatabase,
  connectDatabase,
  type DatabaseOptions,
  type DatabaseState,
} from './connect-database.ts'
export { ConnectionLost, RtdbError } from './database-socket.ts'
export type { DocumentChange } from './live-set.ts'
