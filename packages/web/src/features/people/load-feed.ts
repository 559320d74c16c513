type Feed = typeof import('#features/feed/screens.ts')
let loaded: Feed | undefined

/** The code of the feed, which shows posts: loaded with the first list of them, so that it stays a chunk of its own. */
export async function loadFeed(): Promise<Feed> {
  loaded ??= await import('#features/feed/screens.ts')
  return loaded
}

/** The same, where it was loaded before. */
export function loadedFeed(): Feed | undefined {
  return loaded
}
