import type { AttachedFile } from '@kith/protocol'
import { useState } from 'preact/hooks'
import { capMarks } from '#lib/shown-text.ts'
import { Picture } from '#ui/picture.tsx'
import { useTexts } from '#ui/use-texts.ts'
import { PictureDialog } from './picture-dialog.tsx'
import styles from './post-pictures.module.css'
import { postTexts } from './post-texts.ts'

const shownAtMost = 4

/** The pictures of a post: one in its own shape, up to four in a grid, of more the number that is left. */
export function PostPictures({ pictures }: { readonly pictures: readonly AttachedFile[] }) {
  const t = useTexts(postTexts)
  const [openAt, setOpenAt] = useState<number>()
  const shown = pictures.slice(0, shownAtMost)
  const left = pictures.length - shown.length
  const leftAt = (index: number) => (left > 0 && index === shownAtMost - 1 ? t.morePictures(left) : undefined)
  if (shown.length === 0) return null
  return (
    <div class={styles.grid} data-count={shown.length}>
      {shown.map((picture, index) => (
        <button
          key={picture.fileId}
          type="button"
          class={styles.cell}
          aria-label={[nameOf(t, picture, index + 1, pictures.length), leftAt(index)]
            .filter(Boolean)
            .join(', ')}
          onClick={() => setOpenAt(index)}
        >
          <Picture {...picture} alt="" variant="sd" isFilling={shown.length > 1} />
          {leftAt(index) && <span class={styles.left}>{leftAt(index)}</span>}
        </button>
      ))}
      {openAt !== undefined && (
        <PictureDialog
          pictures={pictures}
          at={openAt}
          onMove={setOpenAt}
          onClose={() => setOpenAt(undefined)}
        />
      )}
    </div>
  )
}

function nameOf(
  t: ReturnType<typeof useTexts<(typeof postTexts)['en']>>,
  { alt }: AttachedFile,
  at: number,
  of: number,
) {
  return alt ? t.pictureNamed(at, of, capMarks(alt)) : t.picture(at, of)
}
