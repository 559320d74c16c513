import { type ComponentChildren, createContext } from 'preact'
import { language } from '#platform/language.ts'
import { useStore } from './use-store.ts'

/** The language of what is shown. A context, as everything that has a sentence asks for it: subscriptions would cost more than
 * much of what they show. */
export const ShownLanguage = createContext(language.get())

/** Shows everything in it in the language of the app, and anew when that changes. */
export function InLanguage({ children }: { readonly children: ComponentChildren }) {
  return <ShownLanguage.Provider value={useStore(language)}>{children}</ShownLanguage.Provider>
}
