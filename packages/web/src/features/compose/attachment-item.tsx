import { formatBytes } from '#lib/format.ts'
import { mediaAccess, mediaAddress } from '#platform/media.ts'
import { IconButton } from '#ui/button.tsx'
import { Icon } from '#ui/icon.tsx'
import { useStore } from '#ui/use-store.ts'
import { useLocale, useTexts } from '#ui/use-texts.ts'
import styles from './compose.module.css'
import { composeTexts } from './compose-texts.ts'
import { type DraftFile, isPicture, maxAltLength } from './draft.ts'
import { saveLater } from './save-draft.ts'
import { UploadState } from './upload-state.tsx'
import { previewOf, putMember, uploads } from './uploads.ts'

interface AttachmentItemProps {
  readonly draftId: string
  readonly file: DraftFile
  readonly isFirst: boolean
  readonly isLast: boolean
  readonly onMove: (by: -1 | 1) => void
  readonly onRemove: () => void
}

/** A file of a post: what it is, its upload, its description, its place. */
export function AttachmentItem({ draftId, file, isFirst, isLast, onMove, onRemove }: AttachmentItemProps) {
  const t = useTexts(composeTexts)
  const { fileName, fileId, key } = file
  const isUploading = useStore(uploads).get(key)?.state === 'running'
  return (
    <li class={styles.attachment}>
      <Preview file={file} />
      <div class={styles.about}>
        <Name file={file} />
        {fileId === undefined && <UploadState draftId={draftId} file={file} />}
        {isPicture(file) && <AltField draftId={draftId} file={file} />}
      </div>
      <div class={styles.controls}>
        <IconButton
          icon="chevron-up"
          label={t.earlier(fileName)}
          data-control="earlier"
          aria-disabled={isFirst}
          onClick={() => onMove(-1)}
        />
        <IconButton
          icon="chevron-down"
          label={t.later(fileName)}
          data-control="later"
          aria-disabled={isLast}
          onClick={() => onMove(1)}
        />
        <IconButton
          icon="x"
          label={isUploading ? t.cancel(fileName) : t.remove(fileName)}
          data-control="remove"
          onClick={onRemove}
        />
      </div>
    </li>
  )
}

function Name({ file: { fileName, size } }: { readonly file: DraftFile }) {
  const locale = useLocale()
  return (
    <p class={styles.name}>
      <bdi>{fileName}</bdi> <span class="soft">{formatBytes(size, locale)}</span>
    </p>
  )
}

function AltField({ draftId, file }: { readonly draftId: string; readonly file: DraftFile }) {
  const t = useTexts(composeTexts)
  return (
    <input
      class={styles.alt}
      data-control="alt"
      aria-label={t.alt(file.fileName)}
      placeholder={t.altHint}
      maxLength={maxAltLength}
      value={file.alt ?? ''}
      onInput={(event) => {
        putMember(draftId, file.key, { alt: event.currentTarget.value })
        saveLater(draftId)
      }}
    />
  )
}

function Preview({ file }: { readonly file: DraftFile }) {
  const access = useStore(mediaAccess)
  const { fileId, key } = file
  const kept = fileId !== undefined && access ? mediaAddress(fileId, access, { variant: 'tn' }) : undefined
  const address = previewOf(key) ?? kept
  if (!isPicture(file) || address === undefined)
    return (
      <span class={styles.preview}>
        <Icon name={isPicture(file) ? 'image' : 'file'} />
      </span>
    )
  return <img class={styles.preview} src={address} alt="" width={72} height={72} />
}
