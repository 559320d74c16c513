import { useEffect, useState } from 'preact/hooks'
import { Button, IconButton } from '#ui/button.tsx'
import { Dialog } from '#ui/dialog.tsx'
import { Loading } from '#ui/loading.tsx'
import { useTexts } from '#ui/use-texts.ts'
import { mostZoom, moved, type Part, wholePart, zoomed, zoomOf } from './crop.ts'
import styles from './crop-dialog.module.css'
import { CropFrame } from './crop-frame.tsx'
import { peopleTexts } from './people-texts.ts'
import { useSetPicture } from './use-set-picture.ts'

interface CropDialogProps {
  readonly place: 'image' | 'cover'
  readonly file: File
  readonly idTag: string
  readonly onClose: () => void
}

const shapes = { image: 1, cover: 16 / 9 } as const
const step = 0.05

/** Lets the part of a picture be chosen that is used: dragged, by buttons, or by keys. */
export function CropDialog({ place, file, idTag, onClose }: CropDialogProps) {
  const t = useTexts(peopleTexts)
  const picture = usePicture(file)
  const [part, setPart] = useState<Part>()
  const save = useSetPicture({ place, idTag, onDone: onClose })
  const title = place === 'image' ? t.cropPicture : t.cropCover
  if (picture === 'broken')
    return (
      <Dialog title={title} onClose={onClose}>
        <p role="alert">{t.notAPicture}</p>
      </Dialog>
    )
  if (!picture)
    return (
      <Dialog title={title} onClose={onClose}>
        <Loading heights={[320]} />
      </Dialog>
    )
  const size = { width: picture.naturalWidth, height: picture.naturalHeight }
  const shown = part ?? wholePart(size, shapes[place])
  const zoom = zoomOf(size, shown)
  const move = (x: number, y: number) => setPart(moved(size, shown, { x, y }))
  return (
    <Dialog title={title} onClose={onClose}>
      <div class="stack">
        <CropFrame
          picture={picture}
          part={shown}
          isRound={place === 'image'}
          onMove={move}
          onZoom={(by) => setPart(zoomed(size, shown, zoom * by))}
        />
        <div class={styles.tools}>
          <label>
            {t.zoom}
            <input
              type="range"
              min={1}
              max={mostZoom}
              step="any"
              value={zoom}
              onInput={({ currentTarget }) => setPart(zoomed(size, shown, currentTarget.valueAsNumber))}
            />
          </label>
          <div class={styles.arrows}>
            <IconButton icon="chevron-left" label={t.left} onClick={() => move(-step, 0)} />
            <IconButton icon="chevron-up" label={t.up} onClick={() => move(0, -step)} />
            <IconButton icon="chevron-down" label={t.down} onClick={() => move(0, step)} />
            <IconButton icon="chevron-right" label={t.right} onClick={() => move(step, 0)} />
          </div>
        </div>
        <div class="row">
          <Button
            kind="primary"
            isBusy={save.isPending}
            onClick={() => save.mutate({ picture, part: shown })}
          >
            {t.use}
          </Button>
          <Button kind="quiet" onClick={onClose}>
            {t.cancel}
          </Button>
        </div>
      </div>
    </Dialog>
  )
}

function usePicture(file: File): HTMLImageElement | 'broken' | undefined {
  const [picture, setPicture] = useState<HTMLImageElement | 'broken'>()
  useEffect(() => {
    const address = URL.createObjectURL(file)
    const image = new Image()
    image.onload = () => setPicture(image)
    image.onerror = () => setPicture('broken')
    image.src = address
    return () => URL.revokeObjectURL(address)
  }, [file])
  return picture
}
