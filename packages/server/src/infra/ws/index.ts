export type { Frame, SocketHandler } from './live-socket.ts'
export { openSockets, type Sockets } from './open-sockets.ts'
export type { SocketLimits } from './socket-room.ts'
export { SocketRefusal, type SocketRoute, type SocketVisit } from './socket-route.ts'
