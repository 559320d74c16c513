import { Button } from '#ui/button.tsx'
import { Dialog } from '#ui/dialog.tsx'
import { useTexts } from '#ui/use-texts.ts'
import { composeTexts } from './compose-texts.ts'

interface DescribeDialogProps {
  readonly count: number
  readonly onDescribe: () => void
  readonly onShare: () => void
}

/** Asks once for what pictures without a description show. */
export function DescribeDialog({ count, onDescribe, onShare }: DescribeDialogProps) {
  const t = useTexts(composeTexts)
  return (
    <Dialog title={t.describeTitle} onClose={onDescribe}>
      <div class="stack">
        <p>{t.describeWhy(count)}</p>
        <div class="row">
          <Button kind="primary" icon="pencil" onClick={onDescribe}>
            {t.describe}
          </Button>
          <Button onClick={onShare}>{t.shareAnyway}</Button>
        </div>
      </div>
    </Dialog>
  )
}
