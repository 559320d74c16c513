import { defineTexts } from '#lib/texts.ts'

export const welcomeTexts = defineTexts(
  {
    title: 'First steps',
    intro: 'Each of them takes a moment, and each can wait.',
    begin: 'Share your first photo',
    toHome: 'Go to the home page',
    count: (done: number, all: number) => `${done} of ${all} done`,
    allDone: 'That is everything.',
    isDone: 'Done',
    isSkipped: 'Later',
    next: 'Next',
    later: 'Not now',
    putAside: 'Do not show this on the home page',
    isAside: 'You find the first steps again in the settings.',

    you: 'Your name and picture',
    youWhy: 'By them the people you know recognise you.',
    name: 'Name',
    nameMissing: 'Write the name by which people know you.',
    save: 'Save the name',
    saved: 'Your name was saved.',
    addPicture: 'Choose a picture',
    changePicture: 'Choose another picture',

    passkey: 'Sign in without a password',
    passkeyWhy:
      'With a passkey you sign in with your fingerprint, your face or the code of your device. Nobody can guess it.',
    passkeyMake: 'Make a passkey',
    passkeyMade: 'The passkey was made.',
    passkeyIs: 'You have a passkey.',
    passkeyCannot: 'This browser cannot use passkeys here.',
    passkeyKnown: 'This device already has a passkey for this account.',
    passkeyNotMade: 'No passkey was made.',
    device: (program: string, system: string) => (system === '' ? program : `${program}, ${system}`),

    invite: 'Invite people',
    address: 'Your address',
    addressWhy:
      'Whoever has an account on another server opens your address, sees what you show to everybody, and can follow you from there.',
    accounts: 'An account on this server',
    accountsWhy:
      'An invitation gives an account here: an identity of its own, with posts, messages and room for files. It works for 30 days.',
    accountsOpen:
      'Everybody can make an account here, at this address: an identity of their own, with posts, messages and room for files.',
    inviteFor: 'For how many?',
    one: 'One person',
    ten: 'Up to ten people',
    makeInvitation: 'Make an invitation',
    uses: (count: number | null) =>
      count === null ? 'For everybody who has it' : count === 1 ? 'For one person' : `For ${count} people`,
    until: (when: string) => `until ${when}`,
    revoke: 'Revoke',
    revokeOf: (what: string) => `Revoke the invitation ${what}`,
    revoked: 'The invitation was revoked.',
    copy: 'Copy',
    copied: 'Copied.',
    notCopied: 'The browser does not let the app copy. Select the address and copy it yourself.',
    share: 'Share',
    mail: 'By mail',
    qr: 'QR code',
    qrOf: (what: string) => `QR code: ${what}`,
    mailSubject: 'Find me on Kith',
    mailAddress: (url: string) => `This is my address on Kith:\n\n${url}\n`,
    mailOpen: (url: string) => `Here you can make an account of your own on our server:\n\n${url}\n`,
    mailInvitation: (url: string) =>
      `With this link you can make an account of your own on our server:\n\n${url}\n\nThe link is for you: please do not pass it on.\n`,

    install: 'Install the app',
    installWhy: 'It gets an icon of its own, opens in a window of its own, and starts faster.',
    installIs: 'You are using the installed app.',
    installNow: 'Install',
    installIos: 'In Safari, tap the share symbol, then “Add to Home Screen”.',
    installAndroid: 'Open the menu of the browser, then “Add to home screen” or “Install app”.',
    installDesk:
      'In Chrome and Edge, use the install symbol at the end of the address bar; in Safari, “Add to Dock” in the File menu. Firefox does not install apps on every system: a bookmark does as well.',

    push: 'Be notified',
  },
  {
    title: 'Erste Schritte',
    intro: 'Jeder dauert einen Augenblick, und jeder kann warten.',
    begin: 'Das erste Foto teilen',
    toHome: 'Zur Startseite',
    count: (done, all) => `${done} von ${all} erledigt`,
    allDone: 'Das ist alles.',
    isDone: 'Erledigt',
    isSkipped: 'Später',
    next: 'Weiter',
    later: 'Jetzt nicht',
    putAside: 'Nicht mehr auf der Startseite zeigen',
    isAside: 'Du findest die ersten Schritte in den Einstellungen wieder.',

    you: 'Dein Name und dein Bild',
    youWhy: 'Daran erkennen dich die Menschen, die du kennst.',
    name: 'Name',
    nameMissing: 'Schreib den Namen, unter dem man dich kennt.',
    save: 'Namen speichern',
    saved: 'Dein Name wurde gespeichert.',
    addPicture: 'Bild auswählen',
    changePicture: 'Anderes Bild auswählen',

    passkey: 'Ohne Passwort anmelden',
    passkeyWhy:
      'Mit einem Passkey meldest du dich mit Fingerabdruck, Gesicht oder Gerätecode an. Niemand kann ihn erraten.',
    passkeyMake: 'Passkey anlegen',
    passkeyMade: 'Der Passkey wurde angelegt.',
    passkeyIs: 'Du hast einen Passkey.',
    passkeyCannot: 'Dieser Browser kann hier keine Passkeys verwenden.',
    passkeyKnown: 'Dieses Gerät hat schon einen Passkey für dieses Konto.',
    passkeyNotMade: 'Es wurde kein Passkey angelegt.',
    device: (program, system) => (system === '' ? program : `${program}, ${system}`),

    invite: 'Menschen einladen',
    address: 'Deine Adresse',
    addressWhy:
      'Wer ein Konto auf einem anderen Server hat, öffnet deine Adresse, sieht, was du allen zeigst, und kann dir von dort folgen.',
    accounts: 'Ein Konto auf diesem Server',
    accountsWhy:
      'Eine Einladung gibt ein Konto hier: eine eigene Identität, mit Beiträgen, Nachrichten und Platz für Dateien. Sie gilt 30 Tage.',
    accountsOpen:
      'Jeder kann sich hier ein Konto anlegen, unter dieser Adresse: eine eigene Identität, mit Beiträgen, Nachrichten und Platz für Dateien.',
    inviteFor: 'Für wie viele?',
    one: 'Eine Person',
    ten: 'Bis zu zehn Personen',
    makeInvitation: 'Einladung anlegen',
    uses: (count) =>
      count === null ? 'Für alle, die sie haben' : count === 1 ? 'Für eine Person' : `Für ${count} Personen`,
    until: (when) => `bis ${when}`,
    revoke: 'Zurückziehen',
    revokeOf: (what) => `Die Einladung zurückziehen: ${what}`,
    revoked: 'Die Einladung wurde zurückgezogen.',
    copy: 'Kopieren',
    copied: 'Kopiert.',
    notCopied: 'Der Browser lässt die App nicht kopieren. Markiere die Adresse und kopiere sie selbst.',
    share: 'Teilen',
    mail: 'Per Mail',
    qr: 'QR-Code',
    qrOf: (what) => `QR-Code: ${what}`,
    mailSubject: 'Finde mich auf Kith',
    mailAddress: (url) => `Das ist meine Adresse auf Kith:\n\n${url}\n`,
    mailOpen: (url) => `Hier kannst du dir ein eigenes Konto auf unserem Server anlegen:\n\n${url}\n`,
    mailInvitation: (url) =>
      `Mit diesem Link kannst du dir ein eigenes Konto auf unserem Server anlegen:\n\n${url}\n\nDer Link ist für dich: Bitte gib ihn nicht weiter.\n`,

    install: 'Die App installieren',
    installWhy: 'Sie bekommt ein eigenes Symbol und ein eigenes Fenster, und sie startet schneller.',
    installIs: 'Du benutzt die installierte App.',
    installNow: 'Installieren',
    installIos: 'Tippe in Safari auf das Teilen-Symbol, dann auf „Zum Home-Bildschirm“.',
    installAndroid:
      'Öffne das Menü des Browsers, dann „Zum Startbildschirm hinzufügen“ oder „App installieren“.',
    installDesk:
      'In Chrome und Edge geht es mit dem Symbol am Ende der Adresszeile, in Safari mit „Zum Dock hinzufügen“ im Menü Ablage. Firefox installiert nicht auf jedem System Apps: Ein Lesezeichen tut es auch.',

    push: 'Benachrichtigt werden',
  },
)
