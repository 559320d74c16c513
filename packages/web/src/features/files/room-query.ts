import { getUsageByKind, listFiles } from '@kith/protocol'
import { queryOptions } from '@tanstack/preact-query'
import { client } from '#platform/client.ts'
import { filesKey } from './files-query.ts'

const shownAtMost = 5

/** What could be deleted to make room: how much the trash holds, and the largest files. */
export const roomTakers = queryOptions({
  queryKey: [...filesKey, 'room'],
  queryFn: async ({ signal }) => {
    const [usage, files] = await Promise.all([
      client.call(getUsageByKind, {}, { signal }),
      client.call(
        listFiles,
        { query: { fileTp: ['BLOB'], origin: 'own', sort: 'size', limit: shownAtMost } },
        { signal },
      ),
    ])
    return { trash: usage.data.trash, largest: files.data.filter(({ size = 0 }) => size > 0) }
  },
  staleTime: 0,
})
