import { actionIdOf } from './signing.ts'

type Action = Readonly<Record<string, unknown>>

const aboutId = actionIdOf('alice.example.com', 'about')
const fileId = `b1~${'A'.repeat(43)}`
const bob = 'bob.example.org'
const text = { text: 'Hello' }

const valid: Record<string, Action> = {
  'POST of a text': { type: 'POST', content: text },
  'POST of everything': {
    type: 'POST',
    subType: 'ARTICLE',
    content: {
      title: 't'.repeat(300),
      text: '😀'.repeat(100),
      summary: 's'.repeat(1000),
      category: 'garden',
      tags: Array.from({ length: 20 }, (_, at) => `tag${at}`),
      more: { of: 'its own' },
    },
    attachments: [fileId],
    visibility: 'C',
    flags: 'c',
    x: { mood: 'glad' },
  },
  'POST to somebody': { type: 'POST', content: {}, audienceTag: bob },
  CMNT: { type: 'CMNT', parentId: aboutId, content: text },
  REPOST: { type: 'REPOST', subject: aboutId },
  'SHRE of an action': { type: 'SHRE', subject: aboutId },
  'SHRE of a link': { type: 'SHRE', content: { url: 'https://example.com/', title: 'A page' } },
  FLLW: { type: 'FLLW', audienceTag: bob },
  'FLLW that ends': { type: 'FLLW', subType: 'DEL', audienceTag: bob },
  CONN: { type: 'CONN', audienceTag: bob, content: { message: 'm'.repeat(500) } },
  'CONN that answers or ends another': { type: 'CONN', subType: 'DEL', audienceTag: bob, subject: aboutId },
  'MSG to somebody': { type: 'MSG', audienceTag: bob, content: { ...text, subject: 'A word' } },
  'MSG to several': { type: 'MSG', audience: [bob, 'carol.example.net'], content: text },
  'MSG in answer': { type: 'MSG', parentId: aboutId, content: text },
  FSHR: {
    type: 'FSHR',
    subject: fileId,
    audienceTag: bob,
    content: { permission: 'WRITE', expiresAt: 1_800_000_000 },
  },
  'FSHR withdrawn, without content': { type: 'FSHR', subType: 'DEL', subject: fileId, audienceTag: bob },
  REACT: { type: 'REACT', subType: 'LIKE', subject: aboutId },
  'REACT by its parent': { type: 'REACT', subType: 'ANGRY', parentId: aboutId },
  ACK: { type: 'ACK', subject: aboutId },
  INVT: { type: 'INVT', audienceTag: bob, subject: 'club.example.org' },
  'POST with alternative texts': {
    type: 'POST',
    content: { ...text, alt: { [fileId]: '😀'.repeat(1500) } },
    attachments: [fileId],
  },
  'CMNT with an alternative text of another file, which is ignored': {
    type: 'CMNT',
    parentId: aboutId,
    content: { ...text, alt: { [fileId]: 'A cat' } },
  },
  'x of 16 384 bytes': { type: 'POST', content: text, x: { a: 'x'.repeat(16_384 - 8) } },
}

const invalid: Record<string, Action> = {
  'a long name of a type': { type: 'COMMENT', content: text },
  'a type in lower case': { type: 'post', content: text },
  'POST without content': { type: 'POST' },
  'POST with a parent': { type: 'POST', content: text, parentId: aboutId },
  'POST that ends': { type: 'POST', subType: 'DEL', content: text },
  'POST with a title of 301': { type: 'POST', content: { title: 't'.repeat(301) } },
  'POST with a summary of 1001': { type: 'POST', content: { summary: 's'.repeat(1001) } },
  'POST with a text that is none': { type: 'POST', content: { text: 5 } },
  'POST with 21 tags': { type: 'POST', content: { tags: Array(21).fill('a') } },
  'POST with a tag of 65': { type: 'POST', content: { tags: ['t'.repeat(65)] } },
  'POST with an empty tag': { type: 'POST', content: { tags: [''] } },
  'POST to whom nobody is': { type: 'POST', content: text, audienceTag: 'nobody' },
  'POST with an attachment that is no file': { type: 'POST', content: text, attachments: [aboutId] },
  'CMNT without parent': { type: 'CMNT', content: text },
  'CMNT with a parent that is no action': { type: 'CMNT', parentId: fileId, content: text },
  'CMNT without text': { type: 'CMNT', parentId: aboutId, content: {} },
  'CMNT of an empty text': { type: 'CMNT', parentId: aboutId, content: { text: '' } },
  'CMNT of 10 001': { type: 'CMNT', parentId: aboutId, content: { text: 'x'.repeat(10_001) } },
  'REPOST of nothing': { type: 'REPOST' },
  'REPOST with attachments': { type: 'REPOST', subject: aboutId, attachments: [fileId] },
  'SHRE of nothing': { type: 'SHRE', content: text },
  'SHRE of a script': { type: 'SHRE', content: { url: 'javascript:alert(1)' } },
  'SHRE of a URL of 2049': { type: 'SHRE', content: { url: `https://example.com/${'x'.repeat(2029)}` } },
  'FLLW of nobody': { type: 'FLLW' },
  'FLLW with a subType of its own': { type: 'FLLW', subType: 'MAYBE', audienceTag: bob },
  'CONN with a message of 501': { type: 'CONN', audienceTag: bob, content: { message: 'm'.repeat(501) } },
  'CONN with attachments': { type: 'CONN', audienceTag: bob, attachments: [fileId] },
  'MSG to nobody': { type: 'MSG', content: text },
  'MSG for everybody': { type: 'MSG', audienceTag: bob, content: text, visibility: 'P' },
  'MSG without text': { type: 'MSG', audienceTag: bob, content: { subject: 'A word' } },
  'FSHR without permission': { type: 'FSHR', subject: fileId, audienceTag: bob, content: {} },
  'FSHR with another permission': {
    type: 'FSHR',
    subject: fileId,
    audienceTag: bob,
    content: { permission: 'ADMIN' },
  },
  'FSHR that ends in milliseconds': {
    type: 'FSHR',
    subject: fileId,
    audienceTag: bob,
    content: { permission: 'READ', expiresAt: 1_800_000_000_000 },
  },
  'REACT of no kind': { type: 'REACT', subject: aboutId },
  'REACT of an unknown kind': { type: 'REACT', subType: 'MEH', subject: aboutId },
  'REACT to nothing': { type: 'REACT', subType: 'LIKE' },
  'ACK of nothing': { type: 'ACK' },
  'REPOST of free words': { type: 'REPOST', subject: 'something' },
  'CONN about free words': { type: 'CONN', audienceTag: bob, subject: 'something' },
  'FSHR of an action': { type: 'FSHR', audienceTag: bob, subject: aboutId, content: { permission: 'READ' } },
  'FSHR of a variant of a file': {
    type: 'FSHR',
    audienceTag: bob,
    subject: `${fileId}~orig`,
    content: { permission: 'READ' },
  },
  'REACT to a file': { type: 'REACT', subType: 'LIKE', subject: fileId },
  'ACK of free words': { type: 'ACK', audienceTag: bob, subject: 'something' },
  'INVT into nothing': { type: 'INVT', audienceTag: bob },
  'INVT into what is no identity': { type: 'INVT', audienceTag: bob, subject: aboutId },
  'INVT into an identity in capitals': { type: 'INVT', audienceTag: bob, subject: 'Club.example.org' },
  'POST with an alternative text of 1501': {
    type: 'POST',
    content: { ...text, alt: { [fileId]: 'x'.repeat(1501) } },
    attachments: [fileId],
  },
  'POST with an alternative text that is none': {
    type: 'POST',
    content: { ...text, alt: { [fileId]: 5 } },
    attachments: [fileId],
  },
  'x of 16 385 bytes': { type: 'POST', content: text, x: { a: 'x'.repeat(16_385 - 8) } },
  'a control character in flags': { type: 'POST', content: text, flags: 'a\u0007' },
}

/** `vectors/actions/members.json`. */
export function actionMemberVectors() {
  const listed = (actions: Record<string, Action>) =>
    Object.entries(actions).map(([name, action]) => ({ name, action }))
  return {
    description:
      'What a type makes of the members of a token that is valid otherwise. A receiver refuses the invalid ones: 400 or 404 from /api/inbox/sync; 200 from /api/inbox, and nothing is shown to anybody. APKG, and what servers alone say (STAT, ANNC), are not here.',
    valid: listed(valid),
    invalid: listed(invalid),
  }
}
