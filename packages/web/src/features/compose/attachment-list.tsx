import { useEffect, useRef } from 'preact/hooks'
import { useTexts } from '#ui/use-texts.ts'
import { AttachmentItem } from './attachment-item.tsx'
import styles from './compose.module.css'
import { composeTexts } from './compose-texts.ts'
import type { Draft, DraftFile } from './draft.ts'
import { removeFile } from './uploads.ts'

interface AttachmentListProps {
  readonly draft: Draft
  readonly onChange: (files: readonly DraftFile[]) => void
  /** Called when the last one was removed. */
  readonly onEmpty: () => void
}

/** The files of a post in their order. */
export function AttachmentList({ draft: { id, files }, onChange, onEmpty }: AttachmentListProps) {
  const t = useTexts(composeTexts)
  const list = useRef<HTMLOListElement>(null)
  const focusNext = useRef<readonly [index: number, control: string]>()
  useEffect(() => {
    // What is moved in the document loses the focus.
    const [index, control] = focusNext.current ?? []
    focusNext.current = undefined
    if (index === undefined) return
    list.current?.children[index]?.querySelector<HTMLElement>(`[data-control="${control}"]`)?.focus()
  }, [files])
  const move = (index: number, by: number) => {
    const file = files[index]
    const target = index + by
    if (!file || target < 0 || target >= files.length) return
    focusNext.current = [target, by < 0 ? 'earlier' : 'later']
    onChange(files.toSpliced(index, 1).toSpliced(target, 0, file))
  }
  const remove = (index: number, file: DraftFile) => {
    focusNext.current = [Math.min(index, files.length - 2), 'remove']
    removeFile(id, file)
    if (files.length === 1) onEmpty()
  }
  return (
    <ol ref={list} class={styles.attachments} aria-label={t.attached}>
      {files.map((file, index) => (
        <AttachmentItem
          key={file.key}
          draftId={id}
          file={file}
          isFirst={index === 0}
          isLast={index === files.length - 1}
          onMove={(by) => move(index, by)}
          onRemove={() => remove(index, file)}
        />
      ))}
    </ol>
  )
}
