export type { ConnectionOptions, SocketLike } from '../realtime/reconnecting-socket.ts'
export {
  type ConnectedDocument,
  connectDocument,
  type DocumentOptions,
  type DocumentState,
} from './connect-document.ts'
