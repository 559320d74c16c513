import type { Action } from '@kith/protocol'
import { Icon } from '#ui/icon.tsx'
import { Picture } from '#ui/picture.tsx'
import { useTexts } from '#ui/use-texts.ts'
import styles from './notifications.module.css'
import { notificationsTexts } from './notifications-texts.ts'

/** The file that is shared: a small picture of it once it was accepted, its name and what one may do. */
export function FileOffer({ offer }: { readonly offer: Action }) {
  const t = useTexts(notificationsTexts)
  const { fileName, contentType, permission, fileTp } = offer.content ?? {}
  const isPicture = typeof contentType === 'string' && contentType.startsWith('image/')
  // Of a stranger nothing is loaded before the offer is accepted.
  const shownId = isPicture && offer.status !== 'C' ? offer.subject : undefined
  return (
    <div class={styles.file}>
      {shownId !== undefined ? (
        <span class={styles.preview}>
          <Picture fileId={shownId} alt="" variant="tn" isFilling />
        </span>
      ) : (
        <Icon name={isPicture ? 'image' : fileTp === 'FLDR' ? 'folder' : 'file'} />
      )}
      <div>
        <bdi>{typeof fileName === 'string' ? fileName : offer.subject}</bdi>
        <div class="soft">{permission === 'WRITE' ? t.mayWrite : t.mayRead}</div>
      </div>
    </div>
  )
}
