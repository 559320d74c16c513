import { createStore } from '#lib/store.ts'
import { chooseLanguage, type Language } from '#lib/texts.ts'
import { session } from './session.ts'

/** The language of the app: of the account's setting, else of the browser. Follows both without a reload. */
export const language = createStore<Language>(choose())

function choose(): Language {
  const present = session.get()
  const settings = 'login' in present ? present.login.settings : []
  const chosen = settings.find(([name]) => name === 'language')?.[1]
  return chooseLanguage(chosen || undefined, navigator.languages)
}

function follow(): void {
  language.set(choose())
  document.documentElement.lang = language.get()
}

session.subscribe(follow)
window.addEventListener('languagechange', follow)
document.documentElement.lang = language.get()
