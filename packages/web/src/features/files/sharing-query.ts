import {
  type FileView,
  listFileShares,
  listProfiles,
  listReferences,
  type ReferenceView,
  type ShareView,
} from '@kith/protocol'
import { queryOptions } from '@tanstack/preact-query'
import { client } from '#platform/client.ts'
import { queries } from '#platform/query.ts'
import { filesKey, pathOf } from './files-query.ts'

const sharingKey = [...filesKey, 'sharing'] as const

/** With whom a file is shared, its links, and what it has from the folders above. */
export function sharingOf(file: FileView) {
  return queryOptions({
    queryKey: [...sharingKey, file.fileId],
    queryFn: async ({ signal }) => {
      const [own, inherited] = await Promise.all([given(file.fileId, signal), inheritedOf(file, signal)])
      return { ...own, inherited }
    },
  })
}

interface Given {
  readonly shares: readonly ShareView[]
  readonly links: readonly ReferenceView[]
}

async function given(fileId: string, signal: AbortSignal): Promise<Given> {
  const query = { type: 'share.file', resourceId: fileId, limit: 200 } as const
  const [shares, links] = await Promise.all([
    client.call(listFileShares, { params: { fileId } }, { signal }),
    client.call(listReferences, { query }, { signal }),
  ])
  return { shares: shares.data.filter(({ subjectType }) => subjectType !== 'L'), links: links.data }
}

/** What a folder gives to those who may read it, and so what lies in it. */
export interface Inherited extends Given {
  readonly folder: FileView
}

async function inheritedOf({ parentId }: FileView, signal: AbortSignal): Promise<readonly Inherited[]> {
  if (parentId === null) return []
  const path = await queries.fetchQuery(pathOf(parentId))
  const all = await Promise.all(
    path.map(async (folder) => ({ folder, ...(await given(folder.fileId, signal)) })),
  )
  return all.filter(({ shares, links }) => shares.length + links.length > 0)
}

/** Who could be meant: those one is connected with. */
export const connectedPeople = queryOptions({
  queryKey: ['connected-people'],
  queryFn: async ({ signal }) => {
    const query = { connected: 'connected', limit: 200 } as const
    return (await client.call(listProfiles, { query }, { signal })).data
  },
})

export function refreshSharing(): Promise<void> {
  return queries.invalidateQueries({ queryKey: sharingKey })
}
