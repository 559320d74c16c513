import type { AttachedFile } from '@kith/protocol'
import { useEffect } from 'preact/hooks'
import { capMarks } from '#lib/shown-text.ts'
import { IconButton } from '#ui/button.tsx'
import { Dialog } from '#ui/dialog.tsx'
import { Picture } from '#ui/picture.tsx'
import { useTexts } from '#ui/use-texts.ts'
import styles from './post-pictures.module.css'
import { postTexts } from './post-texts.ts'

interface PictureDialogProps {
  readonly pictures: readonly AttachedFile[]
  readonly at: number
  readonly onMove: (to: number) => void
  readonly onClose: () => void
}

/** One picture of a post whole, with what it shows in words. The arrow keys lead to the others. */
export function PictureDialog({ pictures, at, onMove, onClose }: PictureDialogProps) {
  const t = useTexts(postTexts)
  const move = (step: number) => onMove((at + step + pictures.length) % pictures.length)
  useArrows(move)
  const picture = pictures[at]
  if (!picture) return null
  return (
    <Dialog isWide title={t.picture(at + 1, pictures.length)} onClose={onClose}>
      <div class={styles.viewer}>
        <div class={styles.stage}>
          <Picture {...picture} key={picture.fileId} alt={capMarks(picture.alt ?? '')} variant="hd" isWhole />
        </div>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a long description is scrolled by keys */}
        <p class={styles.caption} tabIndex={0} dir="auto">
          {picture.alt ? capMarks(picture.alt) : t.noAlt}
        </p>
        {pictures.length > 1 && (
          <div class={styles.moves}>
            <IconButton icon="chevron-left" label={t.previous} onClick={() => move(-1)} />
            <IconButton icon="chevron-right" label={t.next} onClick={() => move(1)} />
          </div>
        )}
      </div>
    </Dialog>
  )
}

function useArrows(move: (step: number) => void): void {
  useEffect(() => {
    const heed = ({ key }: KeyboardEvent) => {
      if (key === 'ArrowRight') move(1)
      if (key === 'ArrowLeft') move(-1)
    }
    window.addEventListener('keydown', heed)
    return () => window.removeEventListener('keydown', heed)
  }, [move])
}
