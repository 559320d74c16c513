import { profileList } from '#features/people/screens.ts'

/** The communities that one belongs to. */
export const ofMine = profileList({ type: 'community', connected: 'connected' })
