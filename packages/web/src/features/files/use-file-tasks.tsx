import type { FileView } from '@kith/protocol'
import type { ComponentChild, ComponentType } from 'preact'
import { useState } from 'preact/hooks'
import { notify } from '#platform/notices.ts'
import { uiTexts } from '#ui/ui-texts.ts'
import { useTexts } from '#ui/use-texts.ts'
import { moveToTrash, restore } from './file-actions.ts'
import type { Task, TaskDialogProps } from './file-task.ts'
import { filesTexts } from './files-texts.ts'
import { useRun } from './use-run.ts'

export interface FileTasks {
  /** Opens the dialog of a task. */
  ask(task: Task): void
  /** Moves files to the trash, which can be undone. */
  trash(files: readonly FileView[]): Promise<void>
  putBack(files: readonly FileView[]): Promise<void>
  /** The dialog that is open. */
  readonly dialog: ComponentChild
}

/** What can be done with files, and the dialogs for it. */
export function useFileTasks(onDone: () => void): FileTasks {
  const t = useTexts(filesTexts)
  const ui = useTexts(uiTexts)
  const run = useRun()
  const [task, setTask] = useState<Task>()
  const [Dialog, setDialog] = useState<ComponentType<TaskDialogProps>>()
  // The code of the dialogs comes with the first of them.
  const load = async () => {
    const { TaskDialog } = await import('./task-dialog.tsx')
    setDialog(() => TaskDialog)
  }
  const ask = async (wanted: Task) => {
    setTask(wanted)
    if (!Dialog && !(await run(load))) setTask(undefined)
  }
  const close = () => setTask(undefined)
  const putBack = async (files: readonly FileView[]) => {
    onDone()
    if (await run(() => restore(files))) notify(t.restored(files.length))
  }
  const trash = async (files: readonly FileView[]) => {
    onDone()
    if (!(await run(() => moveToTrash(files)))) return
    notify(t.trashed(files.length), { action: { label: ui.undo, run: () => void putBack(files) } })
  }
  const dialog = task && Dialog && <Dialog task={task} onClose={close} onDone={onDone} />
  return { ask: (wanted) => void ask(wanted), trash, putBack, dialog }
}
