import type { FileView } from '@kith/protocol'
import type { InfiniteData, UseInfiniteQueryResult } from '@tanstack/preact-query'
import { useState } from 'preact/hooks'
import { capMarks } from '#lib/shown-text.ts'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'
import { Icon } from './icon.tsx'
import styles from './move-dialog.module.css'
import { moveTexts } from './move-texts.ts'
import { QueryState } from './query-state.tsx'
import { useTexts } from './use-texts.ts'

type FileList = UseInfiniteQueryResult<InfiniteData<{ readonly files: readonly FileView[] }>>

interface MoveDialogProps {
  readonly title: string
  /** The name of the place above all folders. */
  readonly root: string
  /** What moves; a folder is not moved into itself. */
  readonly moved: readonly FileView[]
  /** The files of a folder, or of the root. */
  readonly useFilesIn: (folderId: string | undefined) => FileList
  /** Why nothing can be put into a folder; undefined where it can. */
  readonly refusalOf?: (folder: FileView) => string | undefined
  /** With the id of the folder; null is the root. */
  readonly onMove: (parentId: string | null) => void
  readonly onClose: () => void
}

/** Asks where files go: one walks through the folders. */
export function MoveDialog(props: MoveDialogProps) {
  const { title, root, moved, useFilesIn, refusalOf, onMove, onClose } = props
  const t = useTexts(moveTexts)
  const [path, setPath] = useState<readonly FileView[]>([])
  const here = path.at(-1)
  const list = useFilesIn(here?.fileId)
  const movedIds = new Set(moved.map(({ fileId }) => fileId))
  const all = list.data?.pages.flatMap((page) => page.files) ?? []
  const folders = all.filter(({ fileId, fileTp }) => fileTp === 'FLDR' && !movedIds.has(fileId))
  return (
    <Dialog title={title} onClose={onClose}>
      <div class="stack">
        <div class="row">
          {here && (
            <Button icon="chevron-left" onClick={() => setPath(path.slice(0, -1))}>
              {t.upwards}
            </Button>
          )}
          <strong aria-live="polite" dir="auto">
            {here ? capMarks(here.fileName) : root}
          </strong>
        </div>
        <QueryState query={list} heights={[44, 44, 44]} />
        {list.data && folders.length === 0 && <p class="soft">{t.noFolders}</p>}
        <ul class={styles.folders}>
          {folders.map((folder) => (
            <li key={folder.fileId}>
              <button type="button" dir="auto" onClick={() => setPath([...path, folder])}>
                <Icon name="folder" />
                {capMarks(folder.fileName)}
              </button>
            </li>
          ))}
        </ul>
        {list.hasNextPage && (
          <Button isBusy={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
            {t.more}
          </Button>
        )}
        <Button
          needsServer
          kind="primary"
          disabledWhy={here && refusalOf?.(here)}
          onClick={() => onMove(here?.fileId ?? null)}
        >
          {t.moveHere}
        </Button>
      </div>
    </Dialog>
  )
}
