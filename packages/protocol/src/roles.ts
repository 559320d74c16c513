/** Community roles from least to most privileged; a role's level is its place here (docs/protocol/profiles.md). */
export const communityRoles = [
  'public',
  'follower',
  'supporter',
  'contributor',
  'moderator',
  'leader',
] as const
export type CommunityRole = (typeof communityRoles)[number]

/** What an endpoint may ask of its caller: the system administrator, or a rung of the host tenant's ladder. */
export type RequiredRole = 'SADM' | CommunityRole

export function roleLevel(role: CommunityRole): number {
  return communityRoles.indexOf(role)
}

/** The role and every role below it, `public` included, as tokens carry them. */
export function rolesUpTo(role: CommunityRole): CommunityRole[] {
  return communityRoles.slice(0, roleLevel(role) + 1)
}
