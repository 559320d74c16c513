import type { FileView } from '@kith/protocol'
import { useTexts } from '#ui/use-texts.ts'
import { filesTexts } from './files-texts.ts'
import { photoTexts } from './photo-texts.ts'
import styles from './photos.module.css'
import { Thumbnail } from './thumbnail.tsx'
import { type RowActions, useGestures } from './use-gestures.ts'

interface PhotoCellProps {
  readonly file: FileView
  /** The one picture of its month that Tab leads to. */
  readonly isEntry: boolean
  readonly isChosen: boolean
  readonly hasSelection: boolean
  readonly actions: RowActions
}

/** A picture of the grid: a press opens it, its box selects it. */
export function PhotoCell({ file, isEntry, isChosen, hasSelection, actions }: PhotoCellProps) {
  const t = useTexts(filesTexts)
  const p = useTexts(photoTexts)
  const tabIndex = isEntry ? 0 : -1
  const name = `${t.picture}: ${file.fileName}`
  return (
    <div class={styles.cell} data-chosen={isChosen} data-selecting={hasSelection}>
      <button
        type="button"
        data-photo={file.fileId}
        tabIndex={tabIndex}
        aria-label={isChosen ? p.chosen(name) : name}
        onFocus={() => actions.focus(file)}
        onKeyDown={(event) => {
          if (event.key !== ' ') return
          event.preventDefault()
          actions.toggle(file, event.shiftKey ? 'range' : 'one')
        }}
        {...useGestures(file, hasSelection, actions)}
      >
        <Thumbnail file={file} variant="tn" />
      </button>
      <label class={styles.box}>
        <input
          type="checkbox"
          tabIndex={tabIndex}
          checked={isChosen}
          aria-label={t.select(file.fileName)}
          onClick={(event) => actions.toggle(file, event.shiftKey ? 'range' : 'one')}
        />
      </label>
    </div>
  )
}
