import { defineTexts, plural } from '#lib/texts.ts'

export const photoTexts = defineTexts(
  {
    chosen: (name: string) => `${name}, selected`,
    month: 'Month',
    at: (month: string, count: number) =>
      plural('en', count, { one: `${month}, 1 photo`, other: `${month}, ${count} photos` }),
    upload: 'Upload photos',
  },
  {
    chosen: (name) => `${name}, ausgewählt`,
    month: 'Monat',
    at: (month, count) => plural('de', count, { one: `${month}, 1 Foto`, other: `${month}, ${count} Fotos` }),
    upload: 'Fotos hochladen',
  },
)
