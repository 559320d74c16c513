import { defineTexts } from '#lib/texts.ts'

/** The dialog in which a folder is chosen. */
export const moveTexts = defineTexts(
  {
    moveHere: 'Move here',
    more: 'Show more',
    noFolders: 'No folders in here.',
    upwards: 'One level up',
  },
  {
    moveHere: 'Hierher verschieben',
    more: 'Mehr zeigen',
    noFolders: 'Hier sind keine Ordner.',
    upwards: 'Eine Ebene höher',
  },
)
