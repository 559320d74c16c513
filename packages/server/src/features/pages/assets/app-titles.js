// What an app is called and says of itself, in the language of the page.

import { visitorLocale } from './browser.js'

export function titleOf({ name, titles }) {
  return inLanguage(titles) ?? name
}

export function descriptionOf({ description = '', descriptions }) {
  return inLanguage(descriptions) ?? description
}

function inLanguage(texts = {}) {
  const locale = visitorLocale()
  return texts[locale] ?? texts[locale.split('-')[0]]
}
