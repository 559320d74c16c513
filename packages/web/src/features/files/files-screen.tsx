import { useInfiniteQuery, useQuery } from '@tanstack/preact-query'
import { useState } from 'preact/hooks'
import { useLocation, useSearchParams } from 'wouter-preact'
import { noSelection } from '#lib/selection.ts'
import { Button } from '#ui/button.tsx'
import { ScreenState, useIsAbsent } from '#ui/query-state.tsx'
import { Refresh } from '#ui/refresh.tsx'
import { ScreenTitle } from '#ui/screen-title.tsx'
import { useTexts } from '#ui/use-texts.ts'
import { DoublesDialog } from './doubles-dialog.tsx'
import { FileBrowser } from './file-browser.tsx'
import { filesKey, filesOf, isSpecial, pathOf } from './files-query.ts'
import styles from './files-screen.module.css'
import { filesTexts } from './files-texts.ts'
import { ListControls } from './list-controls.tsx'
import { useListLook } from './list-look.ts'
import { Breadcrumbs, PlaceBar } from './place-bar.tsx'
import { RoomDialog } from './room-dialog.tsx'
import { useFileTasks } from './use-file-tasks.tsx'
import { type Uploading, useUploading } from './use-uploading.tsx'

/** A folder, or another list of files: its path, what can be done, and the files. */
export function FilesScreen({ params }: { readonly params: Readonly<Record<string, string>> }) {
  const place = params.folderId
  // Another folder begins with nothing selected or searched for.
  return <Place key={place ?? ''} place={place} />
}

function Place({ place }: { readonly place: string | undefined }) {
  const t = useTexts(filesTexts)
  const folderId = isSpecial(place) ? undefined : place
  const [look, setLook] = useListLook()
  const { search, tag, setSearch, setTag } = useSearch()
  const [selection, setSelection] = useState(noSelection)
  const path = useQuery(pathOf(folderId))
  const { isTiles, ...order } = look
  const list = useInfiniteQuery(filesOf({ place, search, tag, ...order }))
  const tasks = useFileTasks(() => setSelection(noSelection))
  const uploading = useUploading(folderId, isSpecial(place))
  const name = isSpecial(place) ? t[place] : (path.data?.at(-1)?.fileName ?? t.files)
  const isAbsent = useIsAbsent([path])
  if (isAbsent || path.error) return <ScreenState title={t.files} query={path} heights={[]} />
  return (
    <div class={`${styles.screen} stack`}>
      <div class={styles.head}>
        <ScreenTitle>
          <bdi>{name}</bdi>
        </ScreenTitle>
        <Refresh of={[filesKey]} isLive />
        <HeadActions place={place} tasks={tasks} uploading={uploading} />
      </div>
      <PlaceBar />
      {folderId !== undefined && <Breadcrumbs path={path.data ?? []} />}
      <ListControls
        look={look}
        onLook={setLook}
        search={search}
        onSearch={setSearch}
        tag={tag}
        onTag={setTag}
        isSearchable={place !== 'starred' && place !== 'pinned'}
        isSortable={!isSpecial(place) || place === 'trash' || place === 'received'}
      />
      <FileBrowser
        {...{ place, name, search, tag, list, tasks, uploading, selection, isTiles }}
        onSelection={setSelection}
      />
      <DoublesDialog {...uploading} />
      <RoomDialog {...uploading} />
      {tasks.dialog}
      {uploading.isDragging && <div class={styles.drop}>{t.dropHere}</div>}
    </div>
  )
}

/** The words and the tag that are searched for stand in the address: going back leads to them. */
function useSearch() {
  const [query] = useSearchParams()
  const [path, navigate] = useLocation()
  const search = query.get('q') ?? ''
  const tag = query.get('tag') ?? undefined
  const show = (words: string, wanted: string | undefined) => {
    const next = new URLSearchParams({
      ...(words === '' ? {} : { q: words }),
      ...(wanted === undefined ? {} : { tag: wanted }),
    })
    if (words !== search || wanted !== tag) navigate(next.size > 0 ? `${path}?${next}` : path)
  }
  return {
    search,
    tag,
    setSearch: (words: string) => show(words, tag),
    setTag: (wanted: string | undefined) => show(search, wanted),
  }
}

interface HeadActionsProps {
  readonly place: string | undefined
  readonly tasks: ReturnType<typeof useFileTasks>
  readonly uploading: Uploading
}

function HeadActions({ place, tasks, uploading }: HeadActionsProps) {
  const t = useTexts(filesTexts)
  if (place === 'trash')
    return (
      <Button kind="danger" icon="trash-2" onClick={() => tasks.ask({ kind: 'clearTrash' })}>
        {t.emptyTheTrash}
      </Button>
    )
  if (isSpecial(place)) return null
  return (
    <div class="row">
      <Button kind="primary" icon="upload" onClick={() => uploading.choose('files')}>
        {t.upload}
      </Button>
      <Button
        class={styles.secondary}
        title={t.uploadFolder}
        icon="folder-up"
        onClick={() => uploading.choose('folder')}
      >
        <span>{t.uploadFolder}</span>
      </Button>
      <Button
        needsServer
        class={styles.secondary}
        title={t.newFolder}
        icon="folder-plus"
        onClick={() => tasks.ask({ kind: 'folder', parentId: place })}
      >
        <span>{t.newFolder}</span>
      </Button>
    </div>
  )
}
