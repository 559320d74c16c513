import type { ComponentChildren } from 'preact'
import { Button } from '#ui/button.tsx'
import { Dialog } from '#ui/dialog.tsx'
import { uiTexts } from '#ui/ui-texts.ts'
import { useTexts } from '#ui/use-texts.ts'

interface ConfirmProps {
  readonly title: string
  /** What follows. */
  readonly children: ComponentChildren
  /** What the button says. */
  readonly step: string
  readonly onYes: () => void
  readonly onNo: () => void
}

/** Asks before something that cannot be taken back. */
export function Confirm({ title, children, step, onYes, onNo }: ConfirmProps) {
  const t = useTexts(uiTexts)
  return (
    <Dialog title={title} onClose={onNo}>
      <div class="stack">
        <p>{children}</p>
        <div class="row">
          <Button kind="danger" onClick={onYes}>
            {step}
          </Button>
          <Button kind="quiet" onClick={onNo}>
            {t.cancel}
          </Button>
        </div>
      </div>
    </Dialog>
  )
}
