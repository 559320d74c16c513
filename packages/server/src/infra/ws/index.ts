export type { Frame, SocketHandler } from './live-socket.ts'
export type { SocketLimits } from './open-socket-set.ts'
export { openSockets, type Sockets } from './open-sockets.ts'
export { SocketRefusal, type SocketRoute, type SocketVisit } from './socket-route.ts'
