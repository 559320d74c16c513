import { Icon } from './icon.tsx'
import { uiTexts } from './ui-texts.ts'
import { useTexts } from './use-texts.ts'

/** Stands where an action would show what it is about, but the server holds another text under that id. */
export function Mismatched() {
  const t = useTexts(uiTexts)
  return (
    <p class="soft">
      <Icon name="triangle-alert" />
      {t.mismatched}
    </p>
  )
}
