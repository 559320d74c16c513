import { intlOf } from './intl.ts'

/** The languages of the app, by their BCP 47 tags; `en-XA` is the pseudo-language that tests use. No browser has it unless it is
 * told to. */
export const languages = ['en', 'de'] as const
export type Language = (typeof languages)[number] | 'en-XA'

type Sentence = string | ((...values: never[]) => string)
export type Table = { readonly [name: string]: Sentence }
type Like<T extends Table> = {
  readonly [Name in keyof T]: T[Name] extends (...values: infer Values) => string
    ? (...values: Values) => string
    : string
}

/** The sentences of a part of the app in all languages. */
export type Texts<T extends Table> = Readonly<Record<(typeof languages)[number], Like<T>>>

/** Declares the sentences of a part of the app: one that a language lacks, or has too many, is a type error. */
export function defineTexts<T extends Table>(en: T, de: NoInfer<Like<T>>): Texts<T> {
  return { en: en as unknown as Like<T>, de }
}

/** The sentences in one language. */
export function textsIn<T extends Table>(texts: Texts<T>, language: Language): Like<T> {
  return language === 'en-XA' ? pseudoOf(texts.en) : texts[language]
}

/** Which language to speak: the one that was chosen, else the first of `wanted` that there is, else English. */
export function chooseLanguage(chosen: string | undefined, wanted: readonly string[]): Language {
  for (const tag of [chosen, ...wanted]) {
    if (tag === 'en-XA') return tag
    const found = languages.find(
      (language) => tag !== undefined && tag.toLowerCase().split('-')[0] === language,
    )
    if (found) return found
  }
  return 'en'
}

const accents: Readonly<Record<string, string>> = {
  a: 'á',
  e: 'é',
  i: 'î',
  o: 'ö',
  u: 'ü',
  A: 'Å',
  E: 'É',
  O: 'Ø',
}

/** English with accents, each word 40 % longer: what does not change on the screen is no sentence of a table. */
export function pseudo(text: string): string {
  const accented = text.replaceAll(/[aeiouAEO]/g, (letter) => accents[letter] ?? letter)
  return `[${accented.replaceAll(/\S+/g, (word) => word + '~'.repeat(Math.ceil(word.length * 0.4)))}]`
}

// Bound: the tables of the app.
const pseudoTables = new WeakMap<Table, Table>()

function pseudoOf<T extends Table>(table: T): T {
  const known = pseudoTables.get(table)
  if (known) return known as T
  const made = Object.fromEntries(
    Object.entries(table).map(([name, sentence]) => [
      name,
      typeof sentence === 'string' ? pseudo(sentence) : (...values: never[]) => pseudo(sentence(...values)),
    ]),
  )
  pseudoTables.set(table, made)
  return made as T
}

/** One of two or more forms, as the language counts: `plural('de', n, { one: '1 Datei', other: `${n} Dateien` })`. */
export function plural(
  language: string,
  count: number,
  forms: { readonly other: string } & Partial<Record<Intl.LDMLPluralRule, string>>,
): string {
  return forms[intlOf(Intl.PluralRules, language).select(count)] ?? forms.other
}
