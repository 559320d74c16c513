export type { AppContext, Capability, EndReason, SaveState } from '../messages/messages.ts'
export {
  type ApiGet,
  AppUninstalled,
  type FileAccess,
  fileAccess,
  type OpenedFile,
  ReadRefused,
} from './file-access.ts'
export { type MountedApp, type MountOptions, mountApp } from './mount-app.ts'
export { SocketRefused, type SocketRequest } from './relay.ts'
