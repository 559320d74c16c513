/** The mails about an account, or a name that somebody is to have. */
export const mailTemplates = [
  'password-reset',
  'welcome',
  'email-verify',
  'password-changed',
  'passkey-added',
  'passkey-removed',
  'idp-activate',
] as const
export type MailTemplate = (typeof mailTemplates)[number]

/** Paragraphs in the words of one language; `action` stands on the button. `<%= it.… %>` is filled in. */
interface MailText {
  readonly subject: string
  readonly paragraphs: readonly string[]
  readonly action?: string
}

const english: Record<MailTemplate, MailText> = {
  'password-reset': {
    subject: 'Choose a new password',
    paragraphs: [
      'Somebody, hopefully you, asked for a new password for <%= it.idTag %>.',
      'The link works once, until <%= it.until %>. If it was not you, do nothing: your password stays as it is.',
    ],
    action: 'Choose a new password',
  },
  welcome: {
    subject: 'Welcome: choose your password',
    paragraphs: [
      'Your account <%= it.idTag %> is ready.',
      'Choose a password to finish. The link works once, until <%= it.until %>.',
      'If you did not ask for it, do nothing: an account without a password is removed again.',
    ],
    action: 'Choose a password',
  },
  'email-verify': {
    subject: 'Confirm your e-mail address',
    paragraphs: [
      'This address was given for the account <%= it.idTag %>.',
      'Confirm it by choosing a password. The link works once, until <%= it.until %>.',
    ],
    action: 'Confirm the address',
  },
  'password-changed': {
    subject: 'Your password was changed',
    paragraphs: [
      'The password of <%= it.idTag %> was changed, and every device was signed out.',
      'If it was not you, ask for a new password at once.',
    ],
  },
  'passkey-added': {
    subject: 'A passkey was added',
    paragraphs: [
      'A passkey was added to <%= it.idTag %>. It can be used to sign in.',
      'If it was not you, sign in, remove it and change your password.',
    ],
  },
  'passkey-removed': {
    subject: 'A passkey was removed',
    paragraphs: [
      'A passkey was removed from <%= it.idTag %>.',
      'If it was not you, sign in and change your password.',
    ],
  },
  'idp-activate': {
    subject: 'Activate your name',
    paragraphs: [
      'Somebody, hopefully you, chose the name <%= it.idTag %> and gave this address.',
      "Activate it, and it belongs to <%= it.owner ?? 'you' %>. The link works once, until <%= it.until %>.",
      'If it was not you, do nothing: a name that nobody activates is given up after a week.',
    ],
    action: 'Activate the name',
  },
}

const german: Record<MailTemplate, MailText> = {
  'password-reset': {
    subject: 'Neues Passwort wählen',
    paragraphs: [
      'Jemand, hoffentlich Sie, hat ein neues Passwort für <%= it.idTag %> angefordert.',
      'Der Link gilt einmal, bis <%= it.until %>. Waren Sie es nicht, tun Sie nichts: Ihr Passwort bleibt, wie es ist.',
    ],
    action: 'Neues Passwort wählen',
  },
  welcome: {
    subject: 'Willkommen: wählen Sie Ihr Passwort',
    paragraphs: [
      'Ihr Konto <%= it.idTag %> ist bereit.',
      'Wählen Sie zum Abschluss ein Passwort. Der Link gilt einmal, bis <%= it.until %>.',
      'Haben Sie es nicht gewünscht, tun Sie nichts: Ein Konto ohne Passwort wird wieder entfernt.',
    ],
    action: 'Passwort wählen',
  },
  'email-verify': {
    subject: 'E-Mail-Adresse bestätigen',
    paragraphs: [
      'Diese Adresse wurde für das Konto <%= it.idTag %> angegeben.',
      'Bestätigen Sie sie, indem Sie ein Passwort wählen. Der Link gilt einmal, bis <%= it.until %>.',
    ],
    action: 'Adresse bestätigen',
  },
  'password-changed': {
    subject: 'Ihr Passwort wurde geändert',
    paragraphs: [
      'Das Passwort von <%= it.idTag %> wurde geändert, und alle Geräte wurden abgemeldet.',
      'Waren Sie es nicht, fordern Sie sofort ein neues Passwort an.',
    ],
  },
  'passkey-added': {
    subject: 'Ein Passkey wurde hinzugefügt',
    paragraphs: [
      'Zu <%= it.idTag %> wurde ein Passkey hinzugefügt. Man kann sich damit anmelden.',
      'Waren Sie es nicht, melden Sie sich an, entfernen Sie ihn und ändern Sie Ihr Passwort.',
    ],
  },
  'passkey-removed': {
    subject: 'Ein Passkey wurde entfernt',
    paragraphs: [
      'Von <%= it.idTag %> wurde ein Passkey entfernt.',
      'Waren Sie es nicht, melden Sie sich an und ändern Sie Ihr Passwort.',
    ],
  },
  'idp-activate': {
    subject: 'Aktivieren Sie Ihren Namen',
    paragraphs: [
      'Jemand, hoffentlich Sie, hat den Namen <%= it.idTag %> gewählt und diese Adresse angegeben.',
      "Aktivieren Sie ihn, dann gehört er <%= it.owner ?? 'Ihnen' %>. Der Link gilt einmal, bis <%= it.until %>.",
      'Waren Sie es nicht, tun Sie nichts: Ein Name, den niemand aktiviert, wird nach einer Woche aufgegeben.',
    ],
    action: 'Namen aktivieren',
  },
}

/** By primary language subtag; the first is what everybody else gets. */
export const mailLanguages = { en: english, de: german } as const
export type MailLanguage = keyof typeof mailLanguages

/** `de-AT` is German; what is not known, or not given, is English. */
export function mailLanguage(tag: string | undefined): MailLanguage {
  const primary = tag?.toLowerCase().split('-')[0]
  return primary === 'de' ? 'de' : 'en'
}
