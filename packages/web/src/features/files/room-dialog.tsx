import { formatBytes } from '#lib/format.ts'
import { Button } from '#ui/button.tsx'
import { Dialog } from '#ui/dialog.tsx'
import { uiTexts } from '#ui/ui-texts.ts'
import { useLocale, useTexts } from '#ui/use-texts.ts'
import { RoomTakers } from './room-takers.tsx'
import { roomTexts } from './room-texts.ts'
import type { Uploading } from './use-uploading.tsx'

/** Says that there is not enough room, and what could go. */
export function RoomDialog({ crowded, answerRoom }: Pick<Uploading, 'crowded' | 'answerRoom'>) {
  const t = useTexts(roomTexts)
  const ui = useTexts(uiTexts)
  const locale = useLocale()
  if (!crowded) return null
  const fitting = crowded.files.filter(({ refusal }) => !refusal).length
  return (
    <Dialog title={t.title} onClose={() => answerRoom(undefined)}>
      <div class="stack">
        <p role="status">{t.why(formatBytes(crowded.missingBytes, locale))}</p>
        <RoomTakers onFreed={() => answerRoom('again')} />
        <p class="soft">{t.ask}</p>
        <div class="row">
          {fitting > 0 && (
            <Button kind="primary" icon="upload" onClick={() => answerRoom('fitting')}>
              {t.fitting(fitting)}
            </Button>
          )}
          <Button onClick={() => answerRoom(undefined)}>{ui.cancel}</Button>
        </div>
      </div>
    </Dialog>
  )
}
