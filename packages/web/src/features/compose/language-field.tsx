import { useId } from 'preact/hooks'
import { languages } from '#lib/texts.ts'
import { readDevice, writeDevice } from '#platform/device-storage.ts'
import { useLocale, useTexts } from '#ui/use-texts.ts'
import styles from './compose.module.css'
import { composeTexts } from './compose-texts.ts'

const chosenLast = 'post-language'

/** The language that was chosen for the last post here; empty where none was. */
export function lastLanguage(): string {
  const kept = readDevice(chosenLast)
  return typeof kept === 'string' ? kept : ''
}

interface LanguageFieldProps {
  readonly lang: string
  readonly onChange: (lang: string) => void
}

/** In which language the text is, so that it is read aloud as such. */
export function LanguageField({ lang, onChange }: LanguageFieldProps) {
  const t = useTexts(composeTexts)
  const locale = useLocale()
  const id = useId()
  const offered = languagesOffered(lang)
  const names = new Intl.DisplayNames(locale, { type: 'language' })
  return (
    <details class={styles.plan}>
      <summary>{lang === '' ? t.language : `${t.language}: ${names.of(lang) ?? lang}`}</summary>
      <div class={styles.field}>
        <label for={id}>{t.languageOf}</label>
        <select
          id={id}
          value={lang}
          onChange={({ currentTarget: { value } }) => {
            writeDevice(chosenLast, value)
            onChange(value)
          }}
        >
          <option value="">{t.noLanguage}</option>
          {offered.map((tag) => (
            <option key={tag} value={tag}>
              {names.of(tag) ?? tag}
            </option>
          ))}
        </select>
      </div>
    </details>
  )
}

/** Those of the browser and of the app. */
function languagesOffered(lang: string): readonly string[] {
  const known = [...navigator.languages, ...languages].map((tag) => tag.split('-')[0] ?? tag)
  return [...new Set([...(lang === '' ? [] : [lang]), ...known])]
}
