import { createFile, type FileView, getFileMetadata, listFiles, uploadFile } from '@kith/protocol'
import { infiniteQueryOptions, queryOptions } from '@tanstack/preact-query'
import { client } from '#platform/client.ts'
import { communitiesKey } from './communities-keys.ts'

export const filesKey = (idTag: string) => [...communitiesKey, idTag, 'files'] as const

/** What lies in a folder of a community, by name; folders come as they are named. */
export function filesIn(idTag: string, folderId: string | undefined) {
  return infiniteQueryOptions({
    queryKey: [...filesKey(idTag), folderId ?? ''],
    queryFn: async ({ pageParam, signal }) => {
      const place = { parentId: folderId ?? '__root__', sort: 'name', sortDir: 'asc', limit: 50 } as const
      const query = { ...place, ...(pageParam === '' ? {} : { cursor: pageParam }) }
      const { data, cursorPagination } = await client.at(idTag).call(listFiles, { query }, { signal })
      return { files: data as readonly FileView[], next: cursorPagination?.nextCursor ?? undefined }
    },
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
  })
}

/** One file of a community, such as the folder that is shown. */
export function fileOf(idTag: string, fileId: string) {
  return queryOptions({
    queryKey: [...filesKey(idTag), 'one', fileId],
    queryFn: async ({ signal }) =>
      (await client.at(idTag).call(getFileMetadata, { params: { fileId } }, { signal })).data as FileView,
  })
}

/** Puts a file where all members see it. */
export async function putFile(idTag: string, file: File, folderId: string | undefined): Promise<void> {
  const place = folderId === undefined ? {} : { parentId: folderId }
  await client.at(idTag).upload(
    uploadFile,
    {
      params: { preset: 'default', fileName: file.name },
      query: { visibility: 'C', ...place },
      body: file,
    },
    { contentType: file.type || 'application/octet-stream' },
  )
}

/** Makes a folder that all members see. */
export async function makeFolder(
  idTag: string,
  fileName: string,
  folderId: string | undefined,
): Promise<void> {
  const place = folderId === undefined ? {} : { parentId: folderId }
  const body = { fileTp: 'FLDR', fileName, visibility: 'C', ...place } as const
  await client.at(idTag).call(createFile, { body })
}
