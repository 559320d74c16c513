/** The paths that the app's document answers, as the router writes them. `/` and the pages of posts are the app's as well, in
 * browsers that stay signed in. */
export const appPaths: readonly string[] = [
  '/home',
  ...withRest('/messages'),
  '/notifications',
  ...withRest('/people'),
  ...withRest('/profiles/{idTag}'),
  ...withRest('/communities'),
  ...withRest('/files'),
  ...withRest('/settings'),
  '/search',
  ...withRest('/new'),
  '/bookmarks',
  '/welcome',
]

function withRest(path: string): string[] {
  return [path, `${path}/*`]
}
