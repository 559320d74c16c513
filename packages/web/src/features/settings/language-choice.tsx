import { languages } from '#lib/texts.ts'
import { session } from '#platform/session.ts'
import { Choice } from '#ui/choice.tsx'
import { useStore } from '#ui/use-store.ts'
import { useTexts } from '#ui/use-texts.ts'
import { lookTexts } from './look-texts.ts'
import { useChange } from './use-change.ts'

// In their own language: found by those who do not read the present one.
const ownNames = { en: 'English', de: 'Deutsch' } as const

/** Which language the app speaks; it changes at once. */
export function LanguageChoice() {
  const t = useTexts(lookTexts)
  const present = useStore(session)
  const change = useChange()
  const settings = new Map('login' in present ? present.login.settings : [])
  const named = languages.map((value) => ({ value, label: ownNames[value] }))
  const chosen = languages.find((language) => settings.get('language')?.split('-')[0] === language)
  return (
    <Choice<'browser' | (typeof languages)[number]>
      label={t.language}
      isInRow
      options={[{ value: 'browser', label: t.browser }, ...named]}
      value={chosen ?? 'browser'}
      onChange={(value) => change({ language: value === 'browser' ? null : value })}
    />
  )
}
