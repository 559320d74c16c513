export { ConnectionLost } from '../realtime/connection-lost.ts'
export type {
  Attempt,
  ConnectionOptions,
  ConnectionState,
  SocketLike,
} from '../realtime/reconnecting-socket.ts'
export { type Bus, type BusOptions, connectBus } from './connect-bus.ts'
