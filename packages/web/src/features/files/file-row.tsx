import type { FileView } from '@kith/protocol'
import type { ComponentChildren } from 'preact'
import { formatBytes } from '#lib/format.ts'
import { IconButton } from '#ui/button.tsx'
import { Icon } from '#ui/icon.tsx'
import { Time } from '#ui/time.tsx'
import { useLocale, useTexts } from '#ui/use-texts.ts'
import { kindOf } from './file-kind.ts'
import styles from './file-list.module.css'
import { filesTexts } from './files-texts.ts'
import { Thumbnail } from './thumbnail.tsx'
import { type RowActions, useGestures } from './use-gestures.ts'

export type { RowActions } from './use-gestures.ts'

interface FileRowProps {
  readonly file: FileView
  readonly index: number
  readonly isChosen: boolean
  /** The one row that Tab leads to. */
  readonly isActive: boolean
  readonly hasSelection: boolean
  readonly isTiles: boolean
  readonly actions: RowActions
}

/** A file in a list or among tiles. */
export function FileRow(props: FileRowProps) {
  const { file, index, isChosen, isActive, hasSelection, isTiles, actions } = props
  const t = useTexts(filesTexts)
  const tabIndex = isActive ? 0 : -1
  return (
    // biome-ignore lint/a11y/useSemanticElements: tiles are no table
    <div
      role="row"
      aria-rowindex={index + 1}
      aria-selected={isChosen}
      tabIndex={tabIndex}
      class={styles.row}
      data-file={file.fileId}
      onFocus={() => actions.focus(file)}
      {...useGestures(file, hasSelection, actions)}
    >
      <Cell class={styles.check}>
        <input
          type="checkbox"
          tabIndex={tabIndex}
          checked={isChosen}
          aria-label={t.select(file.fileName)}
          onClick={(event) => {
            event.stopPropagation()
            actions.toggle(file, event.shiftKey ? 'range' : 'one')
          }}
        />
      </Cell>
      <Cell class={styles.picture}>
        <Thumbnail file={file} variant={isTiles ? 'sd' : 'tn'} />
      </Cell>
      <Words file={file} />
      <Cell class={styles.menu}>
        <IconButton
          icon="ellipsis"
          label={t.menuOf(file.fileName)}
          tabIndex={tabIndex}
          aria-haspopup="menu"
          onClick={(event) => {
            event.stopPropagation()
            const { left, bottom } = event.currentTarget.getBoundingClientRect()
            actions.menu(file, { x: left, y: bottom })
          }}
        />
      </Cell>
    </div>
  )
}

function Cell({
  class: own,
  children,
}: {
  readonly class: string | undefined
  readonly children: ComponentChildren
}) {
  return (
    // biome-ignore lint/a11y/useSemanticElements lint/a11y/useFocusableInteractive: a row has the focus; tiles are no table
    <span role="gridcell" class={own}>
      {children}
    </span>
  )
}

function Words({ file }: { readonly file: FileView }) {
  const t = useTexts(filesTexts)
  const locale = useLocale()
  const kind = kindOf(file)
  return (
    <Cell class={styles.words}>
      <span class={styles.name}>
        <bdi>{file.fileName}</bdi>
        {file.userData?.starred && <Icon name="star" />}
        {file.userData?.starred && <span class="visually-hidden">{t.isStarred}</span>}
        {file.userData?.pinned && <Icon name="pin" />}
        {file.userData?.pinned && <span class="visually-hidden">{t.isPinned}</span>}
      </span>
      <span class={styles.about}>
        {t[kind]}
        {kind !== 'folder' && file.size !== undefined && ` · ${formatBytes(file.size, locale)}`}
        {' · '}
        <Time iso={file.createdAt} />
      </span>
    </Cell>
  )
}
