import { type FileView, getFileTimeline, listFiles, type MonthCount } from '@kith/protocol'
import { infiniteQueryOptions, queryOptions } from '@tanstack/preact-query'
import { client } from '#platform/client.ts'
import { queries } from '#platform/query.ts'
import { listsKey } from './files-query.ts'

const pictures = { contentType: 'image/*', origin: 'own' } as const

/** How many pictures there are of each month, the newest first. */
export const timeline = queryOptions({
  queryKey: [...listsKey, 'timeline'],
  queryFn: async ({ signal }) => (await client.call(getFileTimeline, { query: pictures }, { signal })).data,
})

// What one screen of small pictures takes: a month of thousands comes in slices.
const firstSliceSize = 100
const sliceSize = 200

/** The pictures of a month such as `2026-03`, slice by slice, the newest first. */
export function photosOf(month: string) {
  const first = new Date(`${month}-01T00:00:00Z`)
  const next = new Date(first)
  next.setUTCMonth(first.getUTCMonth() + 1)
  const query = {
    ...pictures,
    sort: 'taken',
    takenAfter: first,
    takenBefore: next,
  } as const
  return infiniteQueryOptions({
    queryKey: [...listsKey, 'month', month],
    queryFn: async ({ pageParam, signal }) => {
      const at = pageParam === '' ? { limit: firstSliceSize } : { limit: sliceSize, cursor: pageParam }
      const { data, cursorPagination } = await client.call(
        listFiles,
        { query: { ...query, ...at } },
        { signal },
      )
      return { files: data, next: cursorPagination?.nextCursor ?? undefined }
    },
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
  })
}

/** The pictures of these months that are loaded, in their order. */
export function loadedPhotos(months: readonly MonthCount[]): readonly FileView[] {
  return months.flatMap(
    ({ month }) => queries.getQueryData(photosOf(month).queryKey)?.pages.flatMap(({ files }) => files) ?? [],
  )
}

/** Loads all pictures of these months, one after the other. */
export async function loadAllPhotos(months: readonly MonthCount[]): Promise<readonly FileView[]> {
  for (const { month, count } of months)
    await queries.fetchInfiniteQuery({
      ...photosOf(month),
      pages: Math.ceil(count / sliceSize),
      // What is there in part is not all.
      staleTime: 0,
    })
  return loadedPhotos(months)
}

/** Whether a picture is among those of a month that are loaded. */
export function hasPhoto(month: string, fileId: string): boolean {
  return loadedPhotos([{ month, count: 1 }]).some((file) => file.fileId === fileId)
}

/** The pictures of a month of which all are loaded; of others none. */
export function wholeMonth(month: string | undefined): readonly FileView[] {
  if (month === undefined) return []
  const pages = queries.getQueryData(photosOf(month).queryKey)?.pages
  return pages && pages.at(-1)?.next === undefined ? pages.flatMap(({ files }) => files) : []
}
