import type { CommunityRole, FileView } from '@kith/protocol'
import { useInfiniteQuery, useQuery } from '@tanstack/preact-query'
import { useRef, useState } from 'preact/hooks'
import { notify } from '#platform/notices.ts'
import { queries } from '#platform/query.ts'
import { Button } from '#ui/button.tsx'
import { Empty } from '#ui/empty.tsx'
import { Link } from '#ui/link.tsx'
import { Loading } from '#ui/loading.tsx'
import { Problem, useExplain } from '#ui/problem.tsx'
import { useTexts } from '#ui/use-texts.ts'
import { communitiesTexts } from './communities-texts.ts'
import { CommunityFile } from './community-file.tsx'
import styles from './community-files.module.css'
import { fileOf, filesIn, filesKey, putFile } from './community-files-query.ts'
import { manageTexts } from './manage-texts.ts'
import { NewCommunityFolder } from './new-community-folder.tsx'

interface CommunityFilesProps {
  readonly idTag: string
  /** The folder that is shown; absent: what lies in none. */
  readonly folderId: string | undefined
  /** One's own. */
  readonly role: CommunityRole | undefined
}

/** The files of a community, as its host shows them to this member. */
export function CommunityFiles({ idTag, folderId, role }: CommunityFilesProps) {
  const t = useTexts(communitiesTexts)
  const manage = useTexts(manageTexts)
  const list = useInfiniteQuery(filesIn(idTag, folderId))
  const files = list.data?.pages.flatMap((page) => page.files) ?? []
  return (
    <>
      {folderId !== undefined && <FolderPath idTag={idTag} folderId={folderId} />}
      <AddFiles idTag={idTag} folderId={folderId} />
      {list.isPending && <Loading heights={[60, 60, 60]} />}
      {list.error && <Problem error={list.error} onAgain={() => void list.refetch()} />}
      {list.data && files.length === 0 && (
        <Empty icon="folder-open" title={folderId === undefined ? manage.noFiles : manage.inFolder}>
          {manage.noFilesWhy}
        </Empty>
      )}
      {files.length > 0 && (
        <ul class={styles.files} aria-label={manage.files}>
          {[...files].sort(foldersFirst).map((file) => (
            <CommunityFile key={file.fileId} idTag={idTag} file={file} role={role} />
          ))}
        </ul>
      )}
      {list.hasNextPage && (
        <Button isBusy={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
          {t.more}
        </Button>
      )}
    </>
  )
}

function foldersFirst(one: FileView, other: FileView): number {
  return Number(other.fileTp === 'FLDR') - Number(one.fileTp === 'FLDR')
}

function FolderPath({ idTag, folderId }: { readonly idTag: string; readonly folderId: string }) {
  const manage = useTexts(manageTexts)
  const { data: folder } = useQuery(fileOf(idTag, folderId))
  const above = folder?.parentId ? `&in=${encodeURIComponent(folder.parentId)}` : ''
  const path = `/communities/${encodeURIComponent(idTag)}?show=files`
  return (
    <nav class="row" aria-label={manage.path}>
      <Link href={path}>{manage.allFiles}</Link>
      {above && <Link href={path + above}>..</Link>}
      <bdi aria-current="page">{folder?.fileName ?? ''}</bdi>
    </nav>
  )
}

function AddFiles({ idTag, folderId }: Omit<CommunityFilesProps, 'role'>) {
  const manage = useTexts(manageTexts)
  const explain = useExplain()
  const input = useRef<HTMLInputElement>(null)
  const [uploading, setUploading] = useState<string>()
  const add = async (chosen: readonly File[]) => {
    for (const file of chosen) {
      setUploading(file.name)
      try {
        await putFile(idTag, file, folderId)
        notify(manage.uploaded(file.name))
      } catch (error) {
        notify(`${manage.uploadFailed(file.name)} ${explain(error)}`, { kind: 'failed' })
      }
      await queries.invalidateQueries({ queryKey: filesKey(idTag) })
    }
    setUploading(undefined)
  }
  return (
    <div class="row">
      <Button icon="upload" isBusy={uploading !== undefined} onClick={() => input.current?.click()}>
        {uploading === undefined ? manage.upload : manage.uploading(uploading)}
      </Button>
      <NewCommunityFolder idTag={idTag} folderId={folderId} />
      <input
        ref={input}
        type="file"
        multiple
        hidden
        onChange={({ currentTarget }) => {
          const chosen = [...(currentTarget.files ?? [])]
          // So that the same file can be chosen once more.
          currentTarget.value = ''
          void add(chosen)
        }}
      />
    </div>
  )
}
