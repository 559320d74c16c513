import type { PageLanguage } from './page-language.ts'

/** The texts of the page that founds a community, as it is served. */
const english = {
  found: 'Found a community',
  foundHint: 'You will lead it. It gets a name of its own on the web, which cannot be changed later.',
  communityName: 'What it is called',
  communityTag: 'Its name on the web',
  communityTagHint: 'A whole domain name that leads to this server, such as garden.example.org.',
  toCommunity: 'Go to the community',
  toCommunities: 'Back to the communities',
}

/** What its script shows later. */
const englishScript = {
  founded: 'The community {idTag} is made, and you lead it.',
  foundByInvitation:
    'On this server a community is made by invitation. Ask whoever runs the server for a link that lets you make one.',
  communityTagWrong:
    'Its name on the web is a whole domain name, such as garden.example.org: labels of letters, digits and hyphens with dots between them.',
}

const german: typeof english = {
  found: 'Eine Gemeinschaft gründen',
  foundHint:
    'Sie werden sie leiten. Sie bekommt einen eigenen Namen im Netz, der sich später nicht ändern lässt.',
  communityName: 'Wie sie heißt',
  communityTag: 'Ihr Name im Netz',
  communityTagHint: 'Ein ganzer Domain-Name, der zu diesem Server führt, zum Beispiel garten.example.org.',
  toCommunity: 'Zur Gemeinschaft',
  toCommunities: 'Zurück zu den Gemeinschaften',
}

const germanScript: typeof englishScript = {
  founded: 'Die Gemeinschaft {idTag} ist angelegt, und Sie leiten sie.',
  foundByInvitation:
    'Auf diesem Server wird eine Gemeinschaft auf Einladung gegründet. Bitten Sie die Menschen, die ihn betreiben, um einen Link dafür.',
  communityTagWrong:
    'Ihr Name im Netz ist ein ganzer Domain-Name wie garten.example.org: Teile aus Buchstaben, Ziffern und Bindestrichen mit Punkten dazwischen.',
}

export type FoundPageTexts = typeof english
export const foundPageTexts: Record<PageLanguage, FoundPageTexts> = { en: english, de: german }
export const foundScriptTexts: Record<PageLanguage, typeof englishScript> = {
  en: englishScript,
  de: germanScript,
}
