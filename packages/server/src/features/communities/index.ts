export { type ChangeMember, type ChangeMemberDeps, changeMember } from './change-member.ts'
export { type CommunityEndpointDeps, communityEndpoints } from './community-endpoints.ts'
export { foundCommunity } from './found-community.ts'
export { changesStatus, type MemberChange } from './member-change.ts'
