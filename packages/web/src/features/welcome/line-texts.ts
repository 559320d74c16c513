import { defineTexts, plural } from '#lib/texts.ts'

export const lineTexts = defineTexts(
  {
    title: 'First steps',
    left: (count: number) =>
      plural('en', count, {
        one: 'One of your first steps is left.',
        other: `${count} of your first steps are left.`,
      }),
    goOn: 'Go on',
    putAside: 'Put aside',
    isAside: 'You find the first steps again in the settings.',
  },
  {
    title: 'Erste Schritte',
    left: (count) =>
      plural('de', count, {
        one: 'Einer deiner ersten Schritte ist noch offen.',
        other: `${count} deiner ersten Schritte sind noch offen.`,
      }),
    goOn: 'Weitermachen',
    putAside: 'Beiseitelegen',
    isAside: 'Du findest die ersten Schritte in den Einstellungen wieder.',
  },
)
