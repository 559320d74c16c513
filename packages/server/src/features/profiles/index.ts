export { dropLostPictures } from './drop-lost-pictures.ts'
export type { ProfileEvent } from './events.ts'
export { findKnownType } from './find-known-type.ts'
export { type FindProfileDeps, findProfile, refreshProfile, refreshProfileJob } from './find-profile.ts'
export { learnOfIssuer } from './learn-of-issuer.ts'
export { listProfiles } from './list-profiles.ts'
export { putMovedProfile } from './moved-profile.ts'
export {
  changeOwnProfile,
  createOwnProfile,
  findShownProfile,
  getOwnProfile,
  getPublicProfile,
} from './own-profile.ts'
export type { ProfileMember, StoredProfile } from './profile.ts'
export { profileEndpoints } from './profile-endpoints.ts'
export {
  findNames,
  findStoredProfile,
  findStoredProfiles,
  forgetRemoteProfile,
  listOwnWithName,
} from './profile-store.ts'
export { banView } from './profile-view.ts'
export {
  profileFoldingMigrations,
  profileSearchMigrations,
  profilesMigrations,
  profileTableMigrations,
} from './profiles-migrations.ts'
export { setPicture } from './set-picture.ts'
export { addProfileSweep } from './sweep-profiles.ts'
