import { defineTexts } from '#lib/texts.ts'

/** What single keys do. */
export const keyTexts = defineTexts(
  {
    next: 'Next post or message',
    previous: 'Previous post or message',
    react: 'React to the post',
    answer: 'Answer',
    bookmark: 'Bookmark the post',
    write: 'Write a new post',
    search: 'Search',
    goTo: 'Go to a screen, with its letter after it',
    help: 'Show these keys',
  },
  {
    next: 'Nächster Beitrag, nächste Nachricht',
    previous: 'Voriger Beitrag, vorige Nachricht',
    react: 'Auf den Beitrag reagieren',
    answer: 'Antworten',
    bookmark: 'Lesezeichen für den Beitrag',
    write: 'Neuen Beitrag schreiben',
    search: 'Suchen',
    goTo: 'Zu einem Bereich, mit dessen Buchstaben danach',
    help: 'Diese Tasten zeigen',
  },
)
