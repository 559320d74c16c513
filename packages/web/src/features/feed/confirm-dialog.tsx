import type { ComponentChildren } from 'preact'
import { Button } from '#ui/button.tsx'
import { Dialog } from '#ui/dialog.tsx'
import { uiTexts } from '#ui/ui-texts.ts'
import { useTexts } from '#ui/use-texts.ts'

interface ConfirmDialogProps {
  readonly title: string
  /** What happens then. */
  readonly children: ComponentChildren
  readonly yes: string
  readonly onYes: () => void
  readonly onNo: () => void
}

/** Asks before what cannot be undone. */
export function ConfirmDialog({ title, children, yes, onYes, onNo }: ConfirmDialogProps) {
  const ui = useTexts(uiTexts)
  return (
    <Dialog title={title} onClose={onNo}>
      <div class="stack">
        <p>{children}</p>
        <div class="row">
          <Button kind="danger" onClick={onYes}>
            {yes}
          </Button>
          <Button kind="quiet" onClick={onNo}>
            {ui.cancel}
          </Button>
        </div>
      </div>
    </Dialog>
  )
}
