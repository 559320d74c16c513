import { ButtonLink } from './button-link.tsx'
import { Empty } from './empty.tsx'
import { uiTexts } from './ui-texts.ts'
import { useTexts } from './use-texts.ts'

/** The one page for what does not exist and for what may not be seen. */
export function Absent() {
  const t = useTexts(uiTexts)
  return (
    <Empty isScreen icon="search" title={t.absent} step={<ButtonLink href="/">{t.toHome}</ButtonLink>}>
      {t.absentWhy}
    </Empty>
  )
}
