// What an application imports that signs in and shows a feed with its notifications and files.
export { createClient, KithError, uploadFile } from '@kith/client'
export { connectBus } from '@kith/client/bus'
export {
  createAction,
  dismissAction,
  getAction,
  getMe,
  getProfile,
  getVapidKey,
  listActions,
  listFiles,
  login,
  logout,
  refreshLogin,
  setReaction,
  subscribePush,
} from '@kith/protocol'
