import type { FileView } from '@kith/protocol'
import type { InfiniteData } from '@tanstack/preact-query'
import { queries } from '#platform/query.ts'
import { filesKey, isFolderList, listsKey } from './files-query.ts'

type Lists = InfiniteData<{ readonly files: readonly FileView[] }>

/** Changes files in the lists that are kept, at once; undefined takes one out. Returns what undoes it. */
export function editLists(
  fileIds: readonly string[],
  edit: (file: FileView) => FileView | undefined,
  which: 'all' | 'folders' = 'all',
): () => void {
  const chosen = new Set(fileIds)
  const isMeant = ({ queryKey }: { readonly queryKey: readonly unknown[] }) =>
    which === 'all' || isFolderList(queryKey)
  const those = { queryKey: listsKey, predicate: isMeant }
  const before = queries.getQueriesData<Lists>(those)
  queries.setQueriesData<Lists>(those, (lists) => {
    // The counts by month are no list of files.
    if (!lists?.pages) return lists
    const pages = lists.pages.map((page) => ({
      ...page,
      files: page.files.flatMap((file) => (chosen.has(file.fileId) ? (edit(file) ?? []) : file)),
    }))
    return { ...lists, pages }
  })
  return () => {
    for (const [key, lists] of before) queries.setQueryData(key, lists)
  }
}

/** Has everything about files asked anew that is shown. */
export function refreshFiles(): Promise<void> {
  return queries.invalidateQueries({ queryKey: filesKey })
}
