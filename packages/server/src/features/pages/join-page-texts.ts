import type { PageLanguage } from './page-language.ts'

/** The texts of the page to which a link into a community leads. */
const english = {
  joinTitle: 'Join {name}',
  joinInvites: '{name} ({idTag}) invites you. With this link you become a member at once.',
  joinRegister: 'No identity yet?',
  joinRegisterHere: 'Register on this server',
  joinComeBack: 'It opens beside this page. Come back here with your new identity.',
  joinOver: 'This link invites no more',
  joinOverHint: 'It was used up or has ended. Ask whoever gave it to you for a new one.',
  joinToCommunity: 'To the page of the community',
}

const german: typeof english = {
  joinTitle: '{name} beitreten',
  joinInvites: '{name} ({idTag}) lädt Sie ein. Mit diesem Link sind Sie sofort Mitglied.',
  joinRegister: 'Noch keine Identität?',
  joinRegisterHere: 'Auf diesem Server registrieren',
  joinComeBack: 'Die Seite öffnet sich daneben. Kommen Sie mit Ihrer neuen Identität hierher zurück.',
  joinOver: 'Dieser Link lädt nicht mehr ein',
  joinOverHint:
    'Er ist aufgebraucht oder beendet. Bitten Sie die Person, von der Sie ihn haben, um einen neuen.',
  joinToCommunity: 'Zur Seite der Gemeinschaft',
}

export const joinPageTexts: Record<PageLanguage, typeof english> = { en: english, de: german }
