const english = {
  newPoll: 'New poll',
  question: 'Question',
  choices: 'Answers',
  choicesHint: 'One in each line, two to ten.',
  choicesProblem: 'Write two to ten different answers, one in each line.',
  start: 'Start',
  votes: (count: number) => (count === 1 ? '1 vote' : `${count} votes`),
  share: (count: number, percent: number) => `${count} · ${percent} %`,
  withdraw: 'Withdraw my vote',
  empty: 'Nothing has been asked yet.',
  readOnly: 'You see the result. Voting is for those who may change this file.',
  offline: 'You are offline. Your vote is sent when you are back.',
  withdrawn: 'This poll is no longer shared with you.',
  gone: 'This poll is gone.',
  ended: 'The connection to this poll has ended.',
}

export type Texts = typeof english

const german: Texts = {
  newPoll: 'Neue Umfrage',
  question: 'Frage',
  choices: 'Antworten',
  choicesHint: 'Eine pro Zeile, zwei bis zehn.',
  choicesProblem: 'Schreiben Sie zwei bis zehn verschiedene Antworten, eine pro Zeile.',
  start: 'Beginnen',
  votes: (count) => (count === 1 ? '1 Stimme' : `${count} Stimmen`),
  share: (count, percent) => `${count} · ${percent} %`,
  withdraw: 'Meine Stimme zurücknehmen',
  empty: 'Noch wurde nichts gefragt.',
  readOnly: 'Sie sehen das Ergebnis. Abstimmen darf, wer diese Datei ändern darf.',
  offline: 'Sie sind offline. Ihre Stimme wird später gesendet.',
  withdrawn: 'Diese Umfrage ist nicht mehr mit Ihnen geteilt.',
  gone: 'Diese Umfrage gibt es nicht mehr.',
  ended: 'Die Verbindung zu dieser Umfrage ist beendet.',
}

/** The texts in the language of the host; English where there are no others. */
export function textsOf(language: string): Texts {
  return language.startsWith('de') ? german : english
}
