import { type FileView, getFileMetadata, listCollection, listFiles, listTags } from '@kith/protocol'
import { infiniteQueryOptions, queryOptions } from '@tanstack/preact-query'
import { client } from '#platform/client.ts'

/** The keys of everything that shows files. */
export const filesKey = ['files'] as const
export const listsKey = [...filesKey, 'list'] as const

/** Lists that are no folder; each has the place of a folder in the address. */
export const specialPlaces = ['recent', 'starred', 'pinned', 'received', 'trash'] as const
export type SpecialPlace = (typeof specialPlaces)[number]

export const isSpecial = (place: string | undefined): place is SpecialPlace =>
  specialPlaces.some((special) => special === place)

export const sorts = ['name', 'created', 'modified'] as const
export type Sort = (typeof sorts)[number]

/** What a list shows. */
export interface Listing {
  /** A folder's id, a special place, or undefined for what lies in no folder. */
  readonly place: string | undefined
  readonly search: string
  /** Only what has this tag, of all folders. */
  readonly tag?: string | undefined
  readonly sort: Sort
  readonly isDescending: boolean
}

/** Whether a query is for what lies in one folder. */
export function isFolderList(queryKey: readonly unknown[]): boolean {
  const listing = queryKey[listsKey.length]
  if (typeof listing !== 'object' || listing === null) return false
  const { place, search, tag } = listing as Listing
  return search === '' && tag === undefined && !isSpecial(place)
}

interface Page {
  readonly files: readonly FileView[]
  readonly next: Next | undefined
}
interface Next {
  readonly kinds: 'folders' | 'others'
  readonly cursor?: string
}

// What one screen takes at most; whoever goes on gets more at once, so that the lines come before they are seen.
const firstPageSize = 60
const pageSize = 200

/** Files page by page; of a folder its folders first. */
export function filesOf(listing: Listing) {
  return infiniteQueryOptions({
    queryKey: [...listsKey, listing],
    queryFn: ({ pageParam, signal }) => pageOf(listing, pageParam, signal),
    initialPageParam: { kinds: 'folders' } as Next,
    getNextPageParam: ({ next }) => next,
    // Every picture that somebody opens changes it, and no news tells of that.
    ...(listing.place === 'recent' ? { staleTime: 0 } : {}),
  })
}

/** The tags of one's own files. */
export const knownTags = queryOptions({
  queryKey: [...filesKey, 'tags'],
  queryFn: async ({ signal }) => (await client.call(listTags, {}, { signal })).data,
})

async function pageOf(listing: Listing, at: Next, signal: AbortSignal): Promise<Page> {
  if (listing.place === 'starred' || listing.place === 'pinned') return collected(listing.place, at, signal)
  const limit = at.cursor === undefined ? firstPageSize : pageSize
  const query = { limit, ...filterOf(listing), ...(at.cursor ? { cursor: at.cursor } : {}) }
  if (isSpecial(listing.place) || listing.search || listing.tag !== undefined)
    return list(query, 'others', signal)
  const page = await list({ ...query, fileTp: kindsOf[at.kinds] }, at.kinds, signal)
  if (page.next || at.kinds === 'others') return page
  // Most folders have few folders in them: both parts make one page.
  const others = await list({ ...query, fileTp: kindsOf.others, cursor: undefined }, 'others', signal)
  return { files: [...page.files, ...others.files], next: others.next }
}

const kindsOf = { folders: ['FLDR'], others: ['BLOB', 'CRDT', 'RTDB'] } as const

type ListQuery = NonNullable<NonNullable<Parameters<typeof client.call<typeof listFiles>>[1]>['query']>

async function list(query: ListQuery, kinds: Next['kinds'], signal: AbortSignal): Promise<Page> {
  const { data, cursorPagination } = await client.call(listFiles, { query }, { signal })
  const cursor = cursorPagination?.nextCursor
  return { files: data, next: cursor ? { kinds, cursor } : undefined }
}

function filterOf({ place, search, tag, sort, isDescending }: Listing): ListQuery {
  const words = { ...(search ? { search } : {}), ...(tag === undefined ? {} : { tags: [tag] }) }
  if (place === 'recent') return { sort: 'recent', ...words }
  const order = { sort, sortDir: isDescending ? 'desc' : 'asc', ...words } as const
  if (place === 'trash') return { parentId: '__trash__', ...order }
  if (place === 'received') return { origin: 'received', ...order }
  if (search || tag !== undefined) return order
  // A copy that was put into a folder is there; others have a place of their own.
  return place === undefined
    ? { parentId: '__root__', origin: 'own', ...order }
    : { parentId: place, ...order }
}

/** A collection holds ids alone. */
async function collected(place: 'starred' | 'pinned', at: Next, signal: AbortSignal): Promise<Page> {
  const request = {
    params: { collType: place === 'starred' ? 'FAVR' : 'PIND' },
    query: { limit: 20, ...(at.cursor ? { cursor: at.cursor } : {}) },
  } as const
  const { data, cursorPagination } = await client.call(listCollection, request, { signal })
  const found = await Promise.allSettled(
    data.map(({ itemId }) => client.call(getFileMetadata, { params: { fileId: itemId } }, { signal })),
  )
  const files = found.flatMap((one) => (one.status === 'fulfilled' ? [one.value.data] : []))
  const cursor = cursorPagination?.nextCursor
  return { files, next: cursor ? { kinds: 'others', cursor } : undefined }
}

// A cycle is impossible on one server; a deeper path than this is shown from here on.
const deepest = 32

/** A folder and those above it, the topmost first. */
export function pathOf(folderId: string | undefined) {
  return queryOptions({
    queryKey: [...filesKey, 'path', folderId],
    enabled: folderId !== undefined,
    queryFn: async ({ signal }) => {
      const path: FileView[] = []
      let next = folderId ?? null
      while (next !== null && path.length < deepest) {
        const { data }: { data: FileView } = await client
          .call(getFileMetadata, { params: { fileId: next } }, { signal })
          .catch((error: unknown) => {
            // Who was given a folder may not see the one above it.
            if (path.length === 0) throw error
            return { data: undefined as never }
          })
        if (!data) break
        path.unshift(data)
        next = data.parentId
      }
      return path
    },
  })
}

/** One file, as lists show it. */
export function fileOf(fileId: string) {
  return queryOptions({
    queryKey: [...filesKey, 'one', fileId],
    queryFn: async ({ signal }) =>
      (await client.call(getFileMetadata, { params: { fileId } }, { signal })).data,
  })
}
