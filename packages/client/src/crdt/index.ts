export { ConnectionLost } from '../realtime/connection-lost.ts'
export type { Attempt, ConnectionOptions, SocketLike } from '../realtime/reconnecting-socket.ts'
export {
  type ConnectedDocument,
  connectDocument,
  type DocumentOptions,
  type DocumentState,
} from './connect-document.ts'
