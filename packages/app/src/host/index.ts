export type { AppContext, Capability, EndReason, SaveState } from '../messages/messages.ts'
export { type ApiGet, type FileAddress, fileSockets } from './file-sockets.ts'
export { type MountedApp, type MountOptions, mountApp } from './mount-app.ts'
export { SocketRefused, type SocketRequest } from './relay.ts'
