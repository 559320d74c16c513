import type { FileView } from '@kith/protocol'
import { ContextMenu } from '#ui/context-menu.tsx'
import { useTexts } from '#ui/use-texts.ts'
import { filesTexts } from './files-texts.ts'
import { menuItems } from './menu-items.ts'
import type { FileTasks } from './use-file-tasks.tsx'
import { useRun } from './use-run.ts'

/** Whose menu is open, and where. */
export interface OpenMenu {
  readonly file: FileView
  readonly at: { readonly x: number; readonly y: number }
}

interface RowMenuProps extends OpenMenu {
  readonly tasks: FileTasks
  readonly isTrash: boolean
  readonly open: (file: FileView) => void
  readonly onClose: () => void
}

/** What can be done with one file. */
export function RowMenu({ file, at, onClose, ...about }: RowMenuProps) {
  const t = useTexts(filesTexts)
  const run = useRun()
  return (
    <ContextMenu
      label={t.menuOf(file.fileName)}
      items={menuItems([file], { t, run, ...about })}
      at={at}
      onClose={onClose}
    />
  )
}
