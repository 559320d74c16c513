import { useContext } from 'preact/hooks'
import type { Table, Texts } from '#lib/texts.ts'
import { textsIn } from '#lib/texts.ts'
import { ShownLanguage } from './shown-language.tsx'

/** The sentences of a part of the app in the present language. */
export function useTexts<T extends Table>(texts: Texts<T>) {
  return textsIn(texts, useContext(ShownLanguage))
}

/** The BCP 47 tag for dates, numbers and lists. */
export function useLocale(): string {
  const present = useContext(ShownLanguage)
  const key = `${present} ${navigator.language}`
  const known = locales.get(key) ?? localeOf(present)
  locales.set(key, known)
  return known
}

// The browser makes its list of languages anew each time, and every time that is shown asks. Bound: the languages.
const locales = new Map<string, string>()

function localeOf(present: string): string {
  return present === 'en-XA' ? 'en' : (navigator.languages.find((tag) => tag.startsWith(present)) ?? present)
}
