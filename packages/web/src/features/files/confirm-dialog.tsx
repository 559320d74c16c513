import { Button } from '#ui/button.tsx'
import { Dialog } from '#ui/dialog.tsx'
import { uiTexts } from '#ui/ui-texts.ts'
import { useTexts } from '#ui/use-texts.ts'
import { filesTexts } from './files-texts.ts'

interface ConfirmDialogProps {
  readonly title: string
  readonly onConfirm: () => void
  readonly onClose: () => void
}

/** Asks once more before something is gone for good. */
export function ConfirmDialog({ title, onConfirm, onClose }: ConfirmDialogProps) {
  const t = useTexts(filesTexts)
  const ui = useTexts(uiTexts)
  return (
    <Dialog title={title} onClose={onClose}>
      <div class="stack">
        <p>{t.forGoodWhy}</p>
        <div class="row">
          <Button kind="danger" icon="trash-2" onClick={onConfirm}>
            {t.deleteForGood}
          </Button>
          <Button onClick={onClose}>{ui.cancel}</Button>
        </div>
      </div>
    </Dialog>
  )
}
