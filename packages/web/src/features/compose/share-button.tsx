import { formatMoment } from '#lib/format.ts'
import { Button } from '#ui/button.tsx'
import { useLocale, useTexts } from '#ui/use-texts.ts'
import { useShareLabel } from './audience.ts'
import { composeTexts } from './compose-texts.ts'
import { type Draft, momentOf } from './draft.ts'

interface ShareButtonProps {
  readonly draft: Draft
  readonly disabledWhy: string | undefined
  readonly onShare: () => void
}

/** Says with whom and when. */
export function ShareButton({ draft: { audience, publishAt }, disabledWhy, onShare }: ShareButtonProps) {
  const t = useTexts(composeTexts)
  const locale = useLocale()
  const label = useShareLabel(audience)
  const when = publishAt === '' ? undefined : formatMoment(new Date(momentOf(publishAt) * 1000), locale)
  return (
    <Button
      kind="primary"
      icon={when === undefined ? 'send' : 'calendar-clock'}
      disabledWhy={disabledWhy}
      onClick={onShare}
    >
      {when === undefined ? label : t.schedule(label, when)}
    </Button>
  )
}
