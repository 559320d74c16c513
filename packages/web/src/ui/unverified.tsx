import { Icon } from './icon.tsx'
import { uiTexts } from './ui-texts.ts'
import { useTexts } from './use-texts.ts'

/** Marks what an import has brought along: that its author said it has not been verified. */
export function Unverified() {
  const t = useTexts(uiTexts)
  return (
    <span class="soft" title={t.unverifiedWhy}>
      <Icon name="triangle-alert" />
      {t.unverified}
    </span>
  )
}
