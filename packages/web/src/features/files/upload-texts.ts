import { defineTexts, plural } from '#lib/texts.ts'

export const uploadTexts = defineTexts(
  {
    uploads: 'Uploads',
    running: (done: number, all: number) => `Uploading: ${done} of ${all}`,
    done: (count: number) =>
      plural('en', count, { one: '1 file uploaded', other: `${count} files uploaded` }),
    withFailures: (done: number, failed: number) => `${done} uploaded, ${failed} not`,
    paused: 'Paused',
    interrupted: 'The connection is interrupted. It goes on by itself.',
    rate: (rate: string, rest: string) => `${rate}/s · ${rest}`,
    rest: (seconds: number) =>
      seconds < 90
        ? plural('en', seconds, { one: '1 second left', other: `${seconds} seconds left` })
        : `${Math.round(seconds / 60)} minutes left`,
    pause: 'Pause',
    resume: 'Go on',
    retryAll: 'Try those that failed again',
    retry: (name: string) => `Try ${name} again`,
    cancel: (name: string) => `Cancel ${name}`,
    cancelAll: 'Cancel all',
    close: 'Close',
    waiting: 'Waiting',
    sending: 'Uploading',
    finished: 'Uploaded',
    list: 'Show the files',
    progress: 'Progress of all uploads',
    more: (count: number) => `and ${count} more`,
    absent: 'Choose the file again to go on',
    absentWhy: (count: number) =>
      plural('en', count, {
        one: 'This page was left while 1 file was under way that was too large to keep on this device. Choose it again: what has arrived is not sent twice.',
        other: `This page was left while ${count} files were under way that were too large to keep on this device. Choose them again: what has arrived is not sent twice.`,
      }),
    chooseAgain: 'Choose again',
    otherFile: 'This is another file. Choose the one of this name, as it was.',
  },
  {
    uploads: 'Uploads',
    running: (done, all) => `Wird hochgeladen: ${done} von ${all}`,
    done: (count) =>
      plural('de', count, { one: '1 Datei hochgeladen', other: `${count} Dateien hochgeladen` }),
    withFailures: (done, failed) => `${done} hochgeladen, ${failed} nicht`,
    paused: 'Angehalten',
    interrupted: 'Die Verbindung ist unterbrochen. Es geht von selbst weiter.',
    rate: (rate, rest) => `${rate}/s · ${rest}`,
    rest: (seconds) =>
      seconds < 90
        ? plural('de', seconds, { one: 'noch 1 Sekunde', other: `noch ${seconds} Sekunden` })
        : `noch ${Math.round(seconds / 60)} Minuten`,
    pause: 'Anhalten',
    resume: 'Fortsetzen',
    retryAll: 'Fehlgeschlagene nochmal versuchen',
    retry: (name) => `${name} nochmal versuchen`,
    cancel: (name) => `${name} abbrechen`,
    cancelAll: 'Alle abbrechen',
    close: 'Schließen',
    waiting: 'Wartet',
    sending: 'Wird hochgeladen',
    finished: 'Hochgeladen',
    list: 'Dateien zeigen',
    progress: 'Fortschritt aller Uploads',
    more: (count) => `und ${count} weitere`,
    absent: 'Wähle die Datei noch einmal, um fortzusetzen',
    absentWhy: (count) =>
      plural('de', count, {
        one: 'Diese Seite wurde verlassen, als 1 Datei unterwegs war, die zu groß war, um sie auf diesem Gerät aufzuheben. Wähle sie noch einmal: was angekommen ist, wird nicht zweimal gesendet.',
        other: `Diese Seite wurde verlassen, als ${count} Dateien unterwegs waren, die zu groß waren, um sie auf diesem Gerät aufzuheben. Wähle sie noch einmal: was angekommen ist, wird nicht zweimal gesendet.`,
      }),
    chooseAgain: 'Noch einmal wählen',
    otherFile: 'Das ist eine andere Datei. Wähle die mit diesem Namen, so wie sie war.',
  },
)
