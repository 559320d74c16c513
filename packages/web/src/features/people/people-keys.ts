/** The key of everything that shows identities and what holds with them. */
export const peopleKey = ['people'] as const
/** Of lists of identities. */
export const listsKey = [...peopleKey, 'list'] as const
export const profileKey = (idTag: string) => [...peopleKey, 'profile', idTag] as const
/** Of the posts of an identity. */
export const postsKey = (idTag: string) => ['posts', 'of', idTag] as const
