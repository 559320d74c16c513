import { useQuery } from '@tanstack/preact-query'
import { Button } from '#ui/button.tsx'
import { Empty } from '#ui/empty.tsx'
import { QueryState } from '#ui/query-state.tsx'
import { ScreenTitle } from '#ui/screen-title.tsx'
import { useTexts } from '#ui/use-texts.ts'
import { DoublesDialog } from './doubles-dialog.tsx'
import styles from './files-screen.module.css'
import { filesTexts } from './files-texts.ts'
import { PhotoMonths } from './photo-months.tsx'
import { photoTexts } from './photo-texts.ts'
import { timeline } from './photos-query.ts'
import { PlaceBar } from './place-bar.tsx'
import { RoomDialog } from './room-dialog.tsx'
import { useUploading } from './use-uploading.tsx'

/** All pictures, by the month in which they were taken. */
export function PhotosScreen() {
  const t = useTexts(filesTexts)
  const p = useTexts(photoTexts)
  const months = useQuery(timeline)
  const uploading = useUploading(undefined, false)
  const upload = (
    <Button kind="primary" icon="upload" onClick={() => uploading.choose('files')}>
      {p.upload}
    </Button>
  )
  return (
    <div class={`${styles.screen} stack`} data-layout="full">
      <div class={styles.head}>
        <ScreenTitle>{t.photos}</ScreenTitle>
        {months.data && months.data.length > 0 && upload}
      </div>
      <PlaceBar />
      <QueryState query={months} heights={[200, 200]} />
      {months.data?.length === 0 && (
        <Empty icon="image" title={t.emptyHere} step={upload}>
          {t.photosWhy}
        </Empty>
      )}
      {months.data && months.data.length > 0 && <PhotoMonths months={months.data} />}
      <DoublesDialog {...uploading} />
      <RoomDialog {...uploading} />
      {uploading.isDragging && <div class={styles.drop}>{t.dropHere}</div>}
    </div>
  )
}
