import { IconButton } from '#ui/button.tsx'
import { Icon } from '#ui/icon.tsx'
import { useTexts } from '#ui/use-texts.ts'
import styles from './composer.module.css'
import { messagesTexts } from './messages-texts.ts'
import type { Attachment } from './use-attachments.ts'

// As long as the server takes it.
const altChars = 1_500

interface AttachmentListProps {
  readonly attachments: readonly Attachment[]
  readonly onDescribe: (key: string, alt: string) => void
  readonly onRemove: (key: string) => void
}

/** What goes with a message: pictures, each with what it shows, and other files by name. */
export function AttachmentList({ attachments, onDescribe, onRemove }: AttachmentListProps) {
  const t = useTexts(messagesTexts)
  if (attachments.length === 0) return null
  return (
    <ul class={styles.attachments}>
      {attachments.map(({ key, name, url, alt, fileId }) => (
        <li key={key} aria-busy={fileId === undefined}>
          {url === undefined ? <Icon name="file" /> : <img src={url} alt="" width={56} height={56} />}
          {fileId === undefined && <Icon name="upload" />}
          {url === undefined ? (
            <bdi class={styles.fileName}>{name}</bdi>
          ) : (
            <input
              type="text"
              maxLength={altChars}
              value={alt}
              aria-label={t.describe(name)}
              placeholder={t.describe(name)}
              onInput={(event) => onDescribe(key, event.currentTarget.value)}
            />
          )}
          <IconButton icon="x" label={t.remove(name)} onClick={() => onRemove(key)} />
        </li>
      ))}
    </ul>
  )
}
