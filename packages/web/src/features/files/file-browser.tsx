import type { FileView } from '@kith/protocol'
import type { UseInfiniteQueryResult } from '@tanstack/preact-query'
import { useMemo, useState } from 'preact/hooks'
import { useLocation } from 'wouter-preact'
import type { Selection } from '#lib/selection.ts'
import { Button } from '#ui/button.tsx'
import { QueryState } from '#ui/query-state.tsx'
import { useTexts } from '#ui/use-texts.ts'
import { FileList } from './file-list.tsx'
import styles from './files-screen.module.css'
import { filesTexts } from './files-texts.ts'
import { LoadMore } from './load-more.tsx'
import { NoFiles } from './no-files.tsx'
import { OpenedFile } from './opened-file.tsx'
import { type OpenMenu, RowMenu } from './row-menu.tsx'
import { SelectionBar } from './selection-bar.tsx'
import { useShownSelection } from './shown-selection.ts'
import type { FileTasks } from './use-file-tasks.tsx'
import { useOpened } from './use-opened.ts'
import { useRun } from './use-run.ts'
import type { Uploading } from './use-uploading.tsx'

interface FileBrowserProps {
  readonly place: string | undefined
  readonly name: string
  readonly search: string
  readonly tag: string | undefined
  readonly list: UseInfiniteQueryResult<{
    readonly pages: readonly { readonly files: readonly FileView[] }[]
  }>
  readonly tasks: FileTasks
  readonly uploading: Uploading
  readonly isTiles: boolean
  readonly selection: Selection
  readonly onSelection: (selection: Selection) => void
}

/** The files of a place in one of their states, and what is open of them. */
export function FileBrowser(props: FileBrowserProps) {
  const t = useTexts(filesTexts)
  const { place, name, search, tag, list, tasks, isTiles, selection, onSelection } = props
  const [, navigate] = useLocation()
  const run = useRun()
  const { openedId, open, close } = useOpened()
  const [menu, setMenu] = useState<OpenMenu>()
  const isTrash = place === 'trash'
  const files = useMemo(() => list.data?.pages.flatMap((page) => page.files) ?? [], [list.data])
  useShownSelection(files, selection)
  // Loads what is not there yet: all means all.
  const selectAll = async () => {
    let shown = list
    while (shown.hasNextPage) shown = await list.fetchNextPage({ throwOnError: true })
    const all = shown.data?.pages.flatMap((page) => page.files) ?? []
    onSelection({ chosen: new Set(all.map(({ fileId }) => fileId)), anchor: selection.anchor })
  }
  const onAll = () => void run(selectAll)
  const onOpen = (file: FileView) => {
    if (isTrash) return
    if (file.fileTp === 'FLDR') navigate(`/files/${encodeURIComponent(file.fileId)}`)
    else open(file)
  }
  const about = { tasks, isTrash, open: onOpen }
  return (
    <>
      <QueryState query={list} heights={[60, 60, 60, 60, 60]} whoMay={t.whoMay} />
      {list.data && files.length === 0 && <NoFiles {...props} />}
      {files.length > 0 && (
        <FileList
          {...{ label: name, files, isTiles, selection, onSelection, onOpen, onAll }}
          onMenu={(file, at) => setMenu({ file, at })}
          onDelete={(file) => (isTrash ? tasks.ask({ kind: 'forGood', files: [file] }) : tasks.trash([file]))}
          onRename={(file) => !isTrash && tasks.ask({ kind: 'rename', file })}
        />
      )}
      {list.hasNextPage && <LoadMore list={list} />}
      {selection.chosen.size > 0 && <SelectionBar {...{ files, selection, onSelection, onAll, ...about }} />}
      {menu && <RowMenu {...menu} {...about} onClose={() => setMenu(undefined)} />}
      {openedId !== undefined && (
        <OpenedFile
          {...{ openedId, files, open, close }}
          onShare={(file) => tasks.ask({ kind: 'share', file })}
        />
      )}
      {(search || tag !== undefined) && list.data && <ClearSearch />}
    </>
  )
}

function ClearSearch() {
  const t = useTexts(filesTexts)
  const [path, navigate] = useLocation()
  return (
    <Button class={styles.clear} icon="x" onClick={() => navigate(path)}>
      {t.clearSearch}
    </Button>
  )
}
