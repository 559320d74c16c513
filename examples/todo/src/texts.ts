const english = {
  add: 'Add',
  what: 'What is to be done',
  empty: 'Nothing to do. Add the first entry above.',
  emptyForReaders: 'Nothing to do.',
  show: 'Show',
  filters: { all: 'All', open: 'Open', done: 'Done' },
  none: { open: 'Nothing is left to do.', done: 'Nothing is done yet.' },
  notLoaded: 'The rest is shown when you are back.',
  left: (count: number) => (count === 1 ? '1 left' : `${count} left`),
  clear: (count: number) => `Remove ${count} done`,
  remove: (title: string) => `Remove ${title}`,
  here: (idTag: string) => `${idTag} is here`,
  readOnly: 'You may read this list, and not change it.',
  offline: 'You are offline. What you add is sent when you are back.',
  withdrawn: 'This list is no longer shared with you.',
  gone: 'This list is gone.',
  ended: 'The connection to this list has ended.',
  refused: 'The last change was refused.',
}

export type Texts = typeof english

const german: Texts = {
  add: 'Hinzufügen',
  what: 'Was ist zu tun?',
  empty: 'Nichts zu tun. Oben kommt der erste Eintrag hinein.',
  emptyForReaders: 'Nichts zu tun.',
  show: 'Anzeigen',
  filters: { all: 'Alle', open: 'Offen', done: 'Erledigt' },
  none: { open: 'Alles ist erledigt.', done: 'Noch ist nichts erledigt.' },
  notLoaded: 'Der Rest erscheint, wenn Sie wieder online sind.',
  left: (count) => `${count} offen`,
  clear: (count) => `Erledigte entfernen (${count})`,
  remove: (title) => `${title} entfernen`,
  here: (idTag) => `${idTag} ist da`,
  readOnly: 'Sie dürfen diese Liste lesen, aber nicht ändern.',
  offline: 'Sie sind offline. Was Sie eintragen, wird später gesendet.',
  withdrawn: 'Diese Liste ist nicht mehr mit Ihnen geteilt.',
  gone: 'Diese Liste gibt es nicht mehr.',
  ended: 'Die Verbindung zu dieser Liste ist beendet.',
  refused: 'Die letzte Änderung wurde abgelehnt.',
}

/** The texts in the language of the host; English where there are no others. */
export function textsOf(language: string): Texts {
  return language.startsWith('de') ? german : english
}
