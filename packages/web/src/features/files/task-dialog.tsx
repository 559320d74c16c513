import { useInfiniteQuery } from '@tanstack/preact-query'
import { notify } from '#platform/notices.ts'
import { MoveDialog } from '#ui/move-dialog.tsx'
import { NameDialog } from '#ui/name-dialog.tsx'
import { useTexts } from '#ui/use-texts.ts'
import { ConfirmDialog } from './confirm-dialog.tsx'
import { DetailsDialog } from './details-dialog.tsx'
import { changeTags, clearTrash, deleteForGood, makeFolder, move, rename } from './file-actions.ts'
import type { Task, TaskDialogProps } from './file-task.ts'
import { filesOf } from './files-query.ts'
import { filesTexts } from './files-texts.ts'
import { ShareDialog } from './share-dialog.tsx'
import { ShareManyDialog } from './share-many-dialog.tsx'
import { TagsDialog } from './tags-dialog.tsx'
import { useRun } from './use-run.ts'

/** The dialog of a task. */
export function TaskDialog({ task, onClose, onDone }: TaskDialogProps) {
  const t = useTexts(filesTexts)
  if (task.kind === 'share') return <ShareDialog file={task.file} onClose={onClose} />
  if (task.kind === 'shareMany')
    return (
      <ShareManyDialog
        files={task.files}
        onClose={() => {
          onClose()
          onDone()
        }}
      />
    )
  if (task.kind === 'details') return <DetailsDialog file={task.file} onClose={onClose} />
  if (task.kind === 'rename')
    return (
      <NameDialog
        title={t.rename}
        label={t.newName}
        start={task.file.fileName}
        submit={t.rename}
        onName={(name) => rename(task.file, name)}
        onClose={onClose}
      />
    )
  if (task.kind === 'folder')
    return (
      <NameDialog
        title={t.newFolder}
        label={t.folderName}
        start=""
        submit={t.create}
        onName={(name) => makeFolder(name, task.parentId)}
        onClose={onClose}
      />
    )
  return <ManyDialog task={task} onClose={onClose} onDone={onDone} />
}

type ManyTask = Extract<Task, { kind: 'move' | 'tags' | 'forGood' | 'clearTrash' }>

function ManyDialog({ task, onClose, onDone }: TaskDialogProps & { readonly task: ManyTask }) {
  const t = useTexts(filesTexts)
  const run = useRun()
  const finish = async (action: () => Promise<void>, text?: string) => {
    onClose()
    onDone()
    if ((await run(action)) && text) notify(text)
  }
  if (task.kind === 'clearTrash')
    return (
      <ConfirmDialog title={t.allForGoodTitle} onConfirm={() => void finish(clearTrash)} onClose={onClose} />
    )
  const { files } = task
  if (task.kind === 'forGood')
    return (
      <ConfirmDialog
        title={t.forGoodTitle(files.length)}
        onConfirm={() => void finish(() => deleteForGood(files))}
        onClose={onClose}
      />
    )
  if (task.kind === 'tags')
    return (
      <TagsDialog
        files={files}
        onTags={(change) => void finish(() => changeTags(files, change))}
        onClose={onClose}
      />
    )
  return (
    <MoveDialog
      title={t.moveTitle(files.length)}
      root={t.files}
      moved={files}
      useFilesIn={useOwnFilesIn}
      onMove={(parentId) => void finish(() => move(files, parentId), t.moved(files.length))}
      onClose={onClose}
    />
  )
}

function useOwnFilesIn(place: string | undefined) {
  return useInfiniteQuery(filesOf({ place, search: '', sort: 'name', isDescending: false }))
}
