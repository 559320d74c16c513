export type { ProfileEvent } from './events.ts'
export { findKnownType } from './find-known-type.ts'
export {
  type FindProfileDeps,
  type FoundProfile,
  findProfile,
  refreshProfile,
  refreshProfileJob,
} from './find-profile.ts'
export { describeIdentity, type IdentityDocumentDeps } from './identity-document.ts'
export { learnOfIssuer } from './learn-of-issuer.ts'
export {
  changeOwnProfile,
  createOwnProfile,
  findShownProfile,
  getOwnProfile,
  type ProfileEmitter,
} from './own-profile.ts'
export type { ProfileMember, StoredProfile } from './profile.ts'
export { type ProfileEndpointDeps, profileEndpoints } from './profile-endpoints.ts'
export { findNames, findStoredProfile, forgetRemoteProfile } from './profile-store.ts'
export { banView, type ServerInfo } from './profile-view.ts'
export { profilesMigrations } from './profiles-migrations.ts'
export { type PictureBytes, type SetPictureDeps, setPicture } from './set-picture.ts'
export type { SetRelationshipDeps } from './set-relationship.ts'
export { addProfileSweep } from './sweep-profiles.ts'
