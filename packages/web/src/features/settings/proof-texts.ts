import { defineTexts } from '#lib/texts.ts'

export const proofTexts = defineTexts(
  {
    title: 'Is it you?',
    why: 'You signed in a while ago. Confirm that it is you, then it goes on.',
    password: 'Password',
    confirm: 'Confirm',
    passkey: 'With a passkey',
    wrong: 'This is not the password of the account.',
    notUsed: 'The passkey was not used.',
  },
  {
    title: 'Bist du es?',
    why: 'Deine Anmeldung liegt eine Weile zurück. Bestätige, dass du es bist, dann geht es weiter.',
    password: 'Passwort',
    confirm: 'Bestätigen',
    passkey: 'Mit einem Passkey',
    wrong: 'Das ist nicht das Passwort des Kontos.',
    notUsed: 'Der Passkey wurde nicht verwendet.',
  },
)
