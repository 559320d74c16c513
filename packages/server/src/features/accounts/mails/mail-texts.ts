/** The mails about an account, or about a name that a provider gives; and the one that an administrator tries. */
export const mailTemplates = [
  'password-reset',
  'welcome',
  'email-verify',
  'email-change',
  'email-changing',
  'email-changed',
  'password-changed',
  'passkey-added',
  'passkey-removed',
  'idp-activate',
  'certificates-failing',
  'test',
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
      'A new password was requested for the account <%= it.idTag %>.',
      'The link works once, until <%= it.until %>. If you did not request it, ignore this mail: your password stays as it is.',
    ],
    action: 'Choose a new password',
  },
  welcome: {
    subject: 'Welcome: choose your password',
    paragraphs: [
      'Your account <%= it.idTag %> is ready.',
      'Choose a password to finish. The link works once, until <%= it.until %>.',
      'If you did not register, ignore this mail: an account without a password is removed.',
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
  'email-change': {
    subject: 'Confirm your new e-mail address',
    paragraphs: [
      'The account <%= it.idTag %> is to have this e-mail address.',
      'If the account is yours, confirm the address. The link works once, until <%= it.until %>.',
      'If it is not yours, or you did not ask for this, ignore this mail: nothing changes.',
    ],
    action: 'Confirm the address',
  },
  'email-changing': {
    subject: 'Your e-mail address is to be changed',
    paragraphs: [
      'Another e-mail address was requested for the account <%= it.idTag %>. It takes the place of this one as soon as it is confirmed.',
      'If you did not request it, sign in and change your password at once: that ends the request. If you cannot sign in, use "Forgot the password?" on the sign-in page, which sends its link here until then.',
    ],
  },
  'email-changed': {
    subject: 'Your e-mail address was changed',
    paragraphs: [
      'The account <%= it.idTag %> has another e-mail address now. This is the last mail about it that comes here.',
      'If you did not want this, tell the people who run the server at once: they can set your address again.',
    ],
  },
  'password-changed': {
    subject: 'Your password was changed',
    paragraphs: [
      'The password of <%= it.idTag %> was changed, and every device was signed out.',
      'If you did not change it, request a new password at once.',
    ],
  },
  'passkey-added': {
    subject: 'A passkey was added',
    paragraphs: [
      'A passkey was added to <%= it.idTag %>. It can be used to sign in.',
      'If you did not add it, sign in, remove it and change your password.',
    ],
  },
  'passkey-removed': {
    subject: 'A passkey was removed',
    paragraphs: [
      'A passkey was removed from <%= it.idTag %>.',
      'If you did not remove it, sign in and change your password.',
    ],
  },
  'idp-activate': {
    subject: 'Activate your name',
    paragraphs: [
      'The name <%= it.idTag %> was requested with this address.',
      "Once activated, it belongs to <%= it.owner ?? 'you' %>. The link works once, until <%= it.until %>.",
      'If you did not request it, ignore this mail: a name that is not activated is released after a week.',
    ],
    action: 'Activate the name',
  },
  'certificates-failing': {
    subject: 'Names without a valid certificate',
    paragraphs: [
      'The server <%= it.idTag %> cannot get the certificates of some of its names, or cannot renew those that end soon: <%= it.about ?? "" %>',
      'Browsers refuse a name that has none, or one that has ended. `kith doctor` on the server says what most likely helps.',
    ],
  },
  test: {
    subject: 'A mail to try',
    paragraphs: ['The server <%= it.idTag %> can send mail. An administrator asked for this one.'],
  },
}

const german: Record<MailTemplate, MailText> = {
  'password-reset': {
    subject: 'Neues Passwort wählen',
    paragraphs: [
      'Für das Konto <%= it.idTag %> wurde ein neues Passwort angefordert.',
      'Der Link gilt einmal, bis <%= it.until %>. Waren Sie es nicht, ignorieren Sie diese Mail: Ihr Passwort bleibt unverändert.',
    ],
    action: 'Neues Passwort wählen',
  },
  welcome: {
    subject: 'Willkommen: wählen Sie Ihr Passwort',
    paragraphs: [
      'Ihr Konto <%= it.idTag %> ist bereit.',
      'Wählen Sie zum Abschluss ein Passwort. Der Link gilt einmal, bis <%= it.until %>.',
      'Haben Sie sich nicht registriert, ignorieren Sie diese Mail: Ein Konto ohne Passwort wird entfernt.',
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
  'email-change': {
    subject: 'Bestätigen Sie Ihre neue E-Mail-Adresse',
    paragraphs: [
      'Das Konto <%= it.idTag %> soll diese E-Mail-Adresse bekommen.',
      'Gehört das Konto Ihnen, bestätigen Sie die Adresse. Der Link gilt einmal, bis <%= it.until %>.',
      'Gehört es Ihnen nicht oder waren Sie es nicht, ignorieren Sie diese Mail: Es ändert sich nichts.',
    ],
    action: 'Adresse bestätigen',
  },
  'email-changing': {
    subject: 'Ihre E-Mail-Adresse soll geändert werden',
    paragraphs: [
      'Für das Konto <%= it.idTag %> wurde eine andere E-Mail-Adresse angefordert. Sie ersetzt diese hier, sobald sie bestätigt ist.',
      'Waren Sie es nicht, melden Sie sich an und ändern Sie sofort Ihr Passwort: Das beendet die Anforderung. Können Sie sich nicht anmelden, nutzen Sie „Passwort vergessen?“ auf der Anmeldeseite; der Link kommt bis dahin hierher.',
    ],
  },
  'email-changed': {
    subject: 'Ihre E-Mail-Adresse wurde geändert',
    paragraphs: [
      'Das Konto <%= it.idTag %> hat jetzt eine andere E-Mail-Adresse. Dies ist die letzte Mail dazu an diese Adresse.',
      'Wollten Sie das nicht, wenden Sie sich sofort an die Menschen, die den Server betreiben: Sie können Ihre Adresse wieder eintragen.',
    ],
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
      'Der Name <%= it.idTag %> wurde mit dieser Adresse angefordert.',
      "Sobald er aktiviert ist, gehört er <%= it.owner ?? 'Ihnen' %>. Der Link gilt einmal, bis <%= it.until %>.",
      'Waren Sie es nicht, ignorieren Sie diese Mail: Ein Name, der nicht aktiviert wird, wird nach einer Woche freigegeben.',
    ],
    action: 'Namen aktivieren',
  },
  'certificates-failing': {
    subject: 'Namen ohne gültiges Zertifikat',
    paragraphs: [
      'Der Server <%= it.idTag %> bekommt für einige seiner Namen kein Zertifikat oder kann solche nicht erneuern, die bald enden: <%= it.about ?? "" %>',
      'Browser verweigern einen Namen, der keines hat oder dessen Zertifikat geendet hat. `kith doctor` auf dem Server sagt, was wahrscheinlich hilft.',
    ],
  },
  test: {
    subject: 'Eine Mail zur Probe',
    paragraphs: [
      'Der Server <%= it.idTag %> kann Mails senden. Eine Person, die ihn verwaltet, hat um diese gebeten.',
    ],
  },
}

/** By primary language subtag; the first is the default. */
export const mailLanguages = { en: english, de: german } as const
export type MailLanguage = keyof typeof mailLanguages

/** `de-AT` is German; what is not known, or not given, is English. */
export function mailLanguage(tag: string | undefined): MailLanguage {
  const primary = tag?.toLowerCase().split('-')[0]
  return primary === 'de' ? 'de' : 'en'
}
