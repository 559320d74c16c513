import { defineTexts } from '#lib/texts.ts'

export const checksTexts = defineTexts(
  {
    title: 'Your server',
    why: 'Before others rely on it, these four should be well.',
    again: 'Look again',
    whatToDo: 'What to do',
    ok: 'Well',
    warning: 'Needs attention',
    problem: 'Does not work',
    unknown: 'Not known',

    address: 'Address',
    addressOk: (url: string) => `The server asked for ${url} as others do, and reached itself.`,
    addressWrong: (url: string) => `The server asked for ${url} as others do, and did not reach itself.`,
    addressLocal: (url: string) =>
      `${url} is a name of this machine alone: good for trying, and nobody else can come.`,
    addressLocalMend:
      'Give the server a name of its own. The guide docs/operations/install.md tells how, from the DNS to https; this command tells what is missing:',
    found: 'What was found',

    mail: 'Mail',
    mailProven: (address: string) => `You confirmed ${address} with a link that was mailed to you.`,
    mailSet: 'A mail server is set. Whether mail arrives shows when you send one.',
    mailFiles:
      'No mail server is set: mails are only written to files on the server, invitations to register included.',
    mailNoAddress: 'You have no e-mail address here yet, to which a mail could be sent.',
    mailMend:
      'Name a mail server in SMTP_URL, or with these commands. The guide docs/operations/administration.md tells what each failure means.',
    mailSend: 'Send me a mail',
    mailSent: (address: string) =>
      `A mail is on its way to ${address}. Look into your mailbox, the spam folder too.`,
    mailFailed: (stage: string) => `The mail was not sent. It failed at this stage: ${stage}.`,
    mailAddress: 'Set your e-mail address',

    backup: 'Backup',
    backupAt: (when: string) => `The last one was made ${when}.`,
    backupOld: (when: string) => `The last one was made ${when}, more than a week ago.`,
    backupNone:
      'None was made by “kith backup” yet. Other ways, such as a copy of the whole machine, the server does not know of.',
    backupMend:
      'This makes one. The guide docs/operations/backup.md tells how to have it made every night, and how to try it.',

    registration: 'Registration',
    invite: 'Only people with an invitation can make an account here.',
    open: 'Everybody can make an account here, without an invitation.',
    closed: 'The server has one name only, so it has room for your account alone.',
    closedMend:
      'People need names below the server’s: set PUBLIC_URL=https://{idTag}, and let DNS and TLS of all these names lead here. The guide docs/operations/registration.md tells more.',
    letOnlyInvited: 'Only with an invitation',
    letEverybody: 'Let everybody register',
    changed: 'The setting was changed.',
  },
  {
    title: 'Dein Server',
    why: 'Bevor andere sich auf ihn verlassen, sollten diese vier in Ordnung sein.',
    again: 'Noch einmal prüfen',
    whatToDo: 'Was zu tun ist',
    ok: 'In Ordnung',
    warning: 'Braucht Aufmerksamkeit',
    problem: 'Geht nicht',
    unknown: 'Nicht bekannt',

    address: 'Adresse',
    addressOk: (url) => `Der Server hat ${url} so gerufen, wie andere es tun, und sich erreicht.`,
    addressWrong: (url) => `Der Server hat ${url} so gerufen, wie andere es tun, und sich nicht erreicht.`,
    addressLocal: (url) =>
      `${url} ist ein Name nur für diesen Rechner: gut zum Ausprobieren, und niemand sonst kann kommen.`,
    addressLocalMend:
      'Gib dem Server einen eigenen Namen. Die Anleitung docs/operations/install.md sagt, wie, vom DNS bis zu https; was fehlt, sagt dieser Befehl:',
    found: 'Was sich zeigte',

    mail: 'Mail',
    mailProven: (address) => `Du hast ${address} mit einem Link bestätigt, der dir gemailt wurde.`,
    mailSet: 'Ein Mailserver ist eingestellt. Ob Mail ankommt, zeigt sich, wenn du eine schickst.',
    mailFiles:
      'Kein Mailserver ist eingestellt: Mails werden nur als Dateien auf dem Server abgelegt, auch die zum Registrieren.',
    mailNoAddress: 'Du hast hier noch keine E-Mail-Adresse, an die eine Mail gehen könnte.',
    mailMend:
      'Nenne einen Mailserver in SMTP_URL oder mit diesen Befehlen. Die Anleitung docs/operations/administration.md erklärt jeden Fehler.',
    mailSend: 'Mir eine Mail schicken',
    mailSent: (address) =>
      `Eine Mail ist unterwegs an ${address}. Sieh ins Postfach, auch in den Spam-Ordner.`,
    mailFailed: (stage) => `Die Mail wurde nicht gesendet. Es scheiterte an dieser Stelle: ${stage}.`,
    mailAddress: 'E-Mail-Adresse angeben',

    backup: 'Sicherung',
    backupAt: (when) => `Die letzte entstand ${when}.`,
    backupOld: (when) => `Die letzte entstand ${when}, vor mehr als einer Woche.`,
    backupNone:
      'Mit „kith backup“ wurde noch keine gemacht. Von anderen Wegen, etwa einer Kopie des ganzen Rechners, weiß der Server nichts.',
    backupMend:
      'So entsteht eine. Die Anleitung docs/operations/backup.md sagt, wie sie jede Nacht entsteht und wie du sie prüfst.',

    registration: 'Registrierung',
    invite: 'Nur wer eine Einladung hat, kann sich hier ein Konto anlegen.',
    open: 'Jeder kann sich hier ein Konto anlegen, ohne Einladung.',
    closed: 'Der Server hat nur einen Namen und damit nur Platz für dein Konto.',
    closedMend:
      'Andere brauchen Namen unter dem des Servers: Setze PUBLIC_URL=https://{idTag}, und lass DNS und TLS aller dieser Namen hierher führen. Mehr sagt die Anleitung docs/operations/registration.md.',
    letOnlyInvited: 'Nur mit Einladung',
    letEverybody: 'Alle registrieren lassen',
    changed: 'Die Einstellung wurde geändert.',
  },
)
