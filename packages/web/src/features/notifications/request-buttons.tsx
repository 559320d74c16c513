import type { Action } from '@kith/protocol'
import { useState } from 'preact/hooks'
import { notify } from '#platform/notices.ts'
import { Button } from '#ui/button.tsx'
import { useTexts } from '#ui/use-texts.ts'
import { answerRequest } from './change-notification.ts'
import { notificationsTexts } from './notifications-texts.ts'

interface RequestButtonsProps {
  readonly request: Action
  readonly name: string
}

/** Answers a request in its place. */
export function RequestButtons({ request, name }: RequestButtonsProps) {
  const t = useTexts(notificationsTexts)
  const [isBusy, setBusy] = useState(false)
  const answer = async (verdict: 'accept' | 'reject') => {
    setBusy(true)
    try {
      await answerRequest(request, verdict)
      notify(verdict === 'accept' ? t.accepted : t.rejected)
    } catch {
      notify(t.notDone, { kind: 'failed' })
      setBusy(false)
    }
  }
  return (
    <div class="row">
      <Button
        kind="primary"
        icon="check"
        isBusy={isBusy}
        aria-label={`${t.accept}: ${name}`}
        onClick={() => void answer('accept')}
      >
        {t.accept}
      </Button>
      <Button
        icon="x"
        isBusy={isBusy}
        aria-label={`${t.reject}: ${name}`}
        onClick={() => void answer('reject')}
      >
        {t.reject}
      </Button>
    </div>
  )
}
