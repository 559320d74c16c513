import type { Action } from '@kith/protocol'
import { useState } from 'preact/hooks'
import { formatBytes } from '#lib/format.ts'
import { capMarks } from '#lib/shown-text.ts'
import { Dialog } from '#ui/dialog.tsx'
import { Icon } from '#ui/icon.tsx'
import { MediaLink } from '#ui/media-link.tsx'
import { Picture } from '#ui/picture.tsx'
import { useLocale, useTexts } from '#ui/use-texts.ts'
import { messagesTexts } from './messages-texts.ts'
import styles from './thread.module.css'

type AttachedFile = NonNullable<Action['files']>[number]

/** What came with a message: pictures in their boxes, other files to be saved. */
export function MessageFiles({ files }: { readonly files: readonly AttachedFile[] }) {
  const t = useTexts(messagesTexts)
  const locale = useLocale()
  const [opened, setOpened] = useState<AttachedFile>()
  if (files.length === 0) return null
  return (
    <div class={styles.files}>
      {files.map((file) =>
        isPicture(file) ? (
          <button key={file.fileId} type="button" class={styles.picture} onClick={() => setOpened(file)}>
            <Picture {...file} alt={file.alt || t.unnamed} />
          </button>
        ) : (
          <MediaLink key={file.fileId} fileId={file.fileId} fileName={file.fileName} class={styles.file}>
            <Icon name="download" />
            <bdi>{capMarks(file.fileName)}</bdi>
            <span class="soft">{formatBytes(file.size, locale)}</span>
          </MediaLink>
        ),
      )}
      {opened && (
        <Dialog title={opened.fileName} onClose={() => setOpened(undefined)}>
          <Picture {...opened} alt={opened.alt || t.unnamed} variant="hd" isWhole />
          {opened.alt && <p dir="auto">{opened.alt}</p>}
        </Dialog>
      )}
    </div>
  )
}

/** SVG is shown by nobody but the program that saves it. */
function isPicture({ contentType }: AttachedFile): boolean {
  return contentType.startsWith('image/') && !contentType.startsWith('image/svg')
}
