export { CommunitiesScreen } from './communities-screen.tsx'
export { CommunityScreen } from './community-screen.tsx'
