import { defineTexts, plural } from '#lib/texts.ts'

export const roomTexts = defineTexts(
  {
    title: 'Not enough room',
    why: (missing: string) => `${missing} are missing for these files. What is in the trash counts as well.`,
    trash: (count: string, bytes: string) => `In the trash: ${count}, ${bytes}`,
    emptyTrash: 'Empty the trash',
    emptySure: (count: string) => `Delete ${count} now: it cannot be undone`,
    largest: 'What takes the most room',
    remove: (name: string) => `Delete ${name} for good`,
    removeSure: (name: string) => `Delete ${name} now: it cannot be undone`,
    fitting: (count: number) =>
      plural('en', count, {
        one: 'Upload the 1 file that fits',
        other: `Upload the ${count} files that fit`,
      }),
    files: (count: number) => plural('en', count, { one: '1 file', other: `${count} files` }),
    looking: 'Looking for what takes room…',
    ask: 'Whoever runs the server can give you more.',
  },
  {
    title: 'Nicht genug Platz',
    why: (missing) => `Für diese Dateien fehlen ${missing}. Was im Papierkorb liegt, zählt mit.`,
    trash: (count, bytes) => `Im Papierkorb: ${count}, ${bytes}`,
    emptyTrash: 'Papierkorb leeren',
    emptySure: (count) => `${count} jetzt löschen: das lässt sich nicht rückgängig machen`,
    largest: 'Was am meisten Platz braucht',
    remove: (name) => `${name} endgültig löschen`,
    removeSure: (name) => `${name} jetzt löschen: das lässt sich nicht rückgängig machen`,
    fitting: (count) =>
      plural('de', count, {
        one: 'Die 1 Datei hochladen, die passt',
        other: `Die ${count} Dateien hochladen, die passen`,
      }),
    files: (count) => plural('de', count, { one: '1 Datei', other: `${count} Dateien` }),
    looking: 'Es wird gesucht, was Platz braucht …',
    ask: 'Wer den Server betreibt, kann dir mehr geben.',
  },
)
