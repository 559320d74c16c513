import { defineTexts } from '#lib/texts.ts'

export const searchTexts = defineTexts(
  {
    title: 'Search',
    field: 'People, posts, files',
    start: 'What are you looking for?',
    startWhy:
      'A name, a word of a post, or the name of a file. A whole identity such as ben.example.com is found anywhere.',
    none: 'Nothing found',
    noneWhy: (text: string) =>
      `There is nothing here about “${text}”. People whom you do not know yet, on this server too, are found by their whole identity, such as ben.example.com.`,
    tooMany: 'Too many words',
    tooManyWhy: (most: number) => `A search takes at most ${most} words.`,
    people: 'People',
    posts: 'Posts',
    files: 'Files',

    lookUp: (idTag: string) => `Look up ${idTag}`,
    failed: (section: string) => `${section} could not be searched.`,
  },
  {
    title: 'Suche',
    field: 'Menschen, Beiträge, Dateien',
    start: 'Wonach suchst du?',
    startWhy:
      'Ein Name, ein Wort aus einem Beitrag oder der Name einer Datei. Eine ganze Identität wie ben.example.com wird überall gefunden.',
    none: 'Nichts gefunden',
    noneWhy: (text) =>
      `Zu „${text}“ gibt es hier nichts. Menschen, die du noch nicht kennst, auch auf diesem Server, findest du mit ihrer ganzen Identität wie ben.example.com.`,
    tooMany: 'Zu viele Wörter',
    tooManyWhy: (most) => `Eine Suche hat höchstens ${most} Wörter.`,
    people: 'Menschen',
    posts: 'Beiträge',
    files: 'Dateien',

    lookUp: (idTag) => `${idTag} nachschlagen`,
    failed: (section) => `${section}: Die Suche hat nicht geklappt.`,
  },
)
