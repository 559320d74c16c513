/** The key of what is shown of communities, beside profiles and posts. */
export const communitiesKey = ['communities'] as const
/** Of what was written to a community. */
export const postsKey = (idTag: string) => ['posts', 'to', idTag] as const
