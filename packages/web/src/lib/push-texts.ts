import { defineTexts } from './texts.ts'

export const pushTexts = defineTexts(
  {
    MSG: 'Has sent you a message.',
    POST: 'Has mentioned you in a post.',
    CMNT: 'Has written a comment.',
    REACT: 'Has reacted to your post.',
    REPOST: 'Has shared your post.',
    CONN: 'Would like to connect with you.',
    INVT: 'Has invited you.',
    FLLW: 'Follows you.',
    FSHR: 'Has shared a file with you.',
    other: 'Something is new.',
  },
  {
    MSG: 'Hat dir eine Nachricht geschickt.',
    POST: 'Hat dich in einem Beitrag erwähnt.',
    CMNT: 'Hat einen Kommentar geschrieben.',
    REACT: 'Hat auf deinen Beitrag reagiert.',
    REPOST: 'Hat deinen Beitrag geteilt.',
    CONN: 'Möchte sich mit dir verbinden.',
    INVT: 'Hat dich eingeladen.',
    FLLW: 'Folgt dir.',
    FSHR: 'Hat eine Datei für dich freigegeben.',
    other: 'Es gibt etwas Neues.',
  },
)
