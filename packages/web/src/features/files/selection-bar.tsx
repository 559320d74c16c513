import type { FileView } from '@kith/protocol'
import { noSelection, type Selection } from '#lib/selection.ts'
import { Button, IconButton } from '#ui/button.tsx'
import { useTexts } from '#ui/use-texts.ts'
import styles from './files-screen.module.css'
import { filesTexts } from './files-texts.ts'
import { menuItems } from './menu-items.ts'
import type { FileTasks } from './use-file-tasks.tsx'
import { useRun } from './use-run.ts'

interface SelectionBarProps {
  readonly files: readonly FileView[]
  readonly selection: Selection
  readonly onSelection: (selection: Selection) => void
  readonly tasks: FileTasks
  readonly isTrash: boolean
  readonly open: (file: FileView) => void
  /** Selects those as well that are not loaded. */
  readonly onAll: () => void
}

/** What can be done with the files that are selected. */
export function SelectionBar({ files, selection, onSelection, onAll, ...about }: SelectionBarProps) {
  const t = useTexts(filesTexts)
  const run = useRun()
  const chosen = files.filter(({ fileId }) => selection.chosen.has(fileId))
  return (
    <div class={styles.selection} role="toolbar" aria-label={t.selected(chosen.length)}>
      <IconButton icon="x" label={t.clearSelection} onClick={() => onSelection(noSelection)} />
      <strong role="status">{t.selected(chosen.length)}</strong>
      <Button kind="quiet" icon="check-check" onClick={onAll}>
        {t.selectAll}
      </Button>
      <div class={styles.selectionActions}>
        {menuItems(chosen, { t, run, ...about })
          .filter(({ icon }) => icon !== 'eye')
          .map(({ label, icon, run: select }) => (
            <IconButton needsServer key={label} icon={icon} label={label} onClick={select} />
          ))}
      </div>
    </div>
  )
}
