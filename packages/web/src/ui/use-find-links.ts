import { useEffect } from 'preact/hooks'
import { createStore } from '#lib/store.ts'
import { type FindLinks, mayHaveLinks } from '#lib/text-parts.ts'
import { useStore } from './use-store.ts'

const found = createStore<FindLinks | undefined>(undefined)

/** What finds the addresses in a text, once it is loaded: its table of names is a tenth of what the first screen may weigh. */
export function useFindLinks(text: string): FindLinks | undefined {
  const findLinks = useStore(found)
  const isWanted = findLinks === undefined && mayHaveLinks(text)
  useEffect(() => {
    if (isWanted) void load()
  }, [isWanted])
  return findLinks
}

async function load(): Promise<void> {
  // Where it cannot be loaded the text stays as it is.
  const { linksIn } = await import('#lib/links-in.ts').catch(() => ({ linksIn: undefined }))
  if (linksIn) found.set(linksIn)
}
