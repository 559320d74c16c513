import { createHash } from 'node:crypto'
import { actionIdOf, nonceOf } from './signing.ts'

const hash43 = `${'A'.repeat(42)}A`

/** `vectors/ids/id-tags.json`. */
export function idTagVectors() {
  const label63 = 'a'.repeat(63)
  const longest = [label63, label63, label63, 'b'.repeat(61)].join('.')
  const valid: Record<string, string> = {
    'alice.example.com': 'alice.example.com',
    'Alice.Example.COM': 'alice.example.com',
    'a.b': 'a.b',
    'x1.y2.z3': 'x1.y2.z3',
    '1.example.com': '1.example.com',
    'alice.localhost': 'alice.localhost',
    'a-b.example.com': 'a-b.example.com',
    'a--b.example.com': 'a--b.example.com',
    'bücher.example': 'xn--bcher-kva.example',
    'BÜCHER.example': 'xn--bcher-kva.example',
    'bu\u0308cher.example': 'xn--bcher-kva.example',
    'faß.example': 'xn--fa-hia.example',
    'Faß.example': 'xn--fa-hia.example',
    '例え.テスト': 'xn--r8jz45g.xn--zckzah',
    'xn--bcher-kva.example': 'xn--bcher-kva.example',
    'XN--BCHER-KVA.example': 'xn--bcher-kva.example',
    'ａｌｉｃｅ.example.com': 'alice.example.com',
    'alice。example。com': 'alice.example.com',
    [`${label63}.example`]: `${label63}.example`,
    [longest]: longest,
  }
  const invalid: Record<string, string> = {
    nothing: '',
    'a single label': 'alice',
    localhost: 'localhost',
    'a dot at the end': 'alice.example.com.',
    'a dot at the beginning': '.example.com',
    'an empty label': 'alice..com',
    'an IPv4 address': '127.0.0.1',
    'an IPv4 address in hexadecimal': '0x7f.1',
    'an IPv6 address': '::1',
    'an IPv6 address in brackets': '[::1]',
    'a last label of digits': 'alice.1',
    'a hyphen before a label': '-a.example.com',
    'a hyphen after a label': 'a-.example.com',
    'an underscore': '_service.example.com',
    'a label of 64 characters': `${'a'.repeat(64)}.example`,
    'a name of 254 characters': longest.concat('b'),
    'a slash': 'alice.example.com/',
    'a question mark': 'alice.example.com?x',
    'a number sign': 'alice.example.com#x',
    'an at sign': 'bob@alice.example.com',
    'a port': 'alice.example.com:443',
    'a percent sign': 'alice%2eexample.com',
    'a backslash': 'alice\\example.com',
    'a space': 'alice example.com',
    'a space at the end': 'alice.example.com ',
    'a line break': 'alice.example.com\n',
    'U+0000': 'alice.example.com\0',
    'a soft hyphen alone': '\u00ad.example',
    'a URL': 'https://alice.example.com',
  }
  return {
    description:
      'Identities (idTags). An input that is taken has one canonical form: lower-case A-labels, by UTS 46 as browsers do it. The others are refused with E-VALIDATION; in a token the canonical form alone is taken.',
    valid: Object.entries(valid).map(([input, idTag]) => ({ input, idTag })),
    invalid: Object.entries(invalid).map(([name, input]) => ({ name, input })),
  }
}

/** `vectors/ids/action-ids.json`. */
export function actionIdVectors() {
  const from = ['alice.example.com', 'xn--bcher-kva.example', 'a.b'].flatMap((issuerTag) =>
    ['one', 'two'].map((name) => ({ issuerTag, nonce: nonceOf(name) })),
  )
  return {
    description:
      'Action ids: "a1~" and base64url of SHA-256 over issuerTag, a line feed (0x0A) and nonce, all as UTF-8 text. The nonce is 16 bytes as base64url; its text is what is hashed. What has not the form of an id is answered like an unknown one.',
    valid: from.map(({ issuerTag, nonce }) => ({ issuerTag, nonce, actionId: actionIdOf(issuerTag, nonce) })),
    invalid: listed({
      nothing: '',
      'another prefix': `b1~${hash43}`,
      'a capital prefix': `A1~${hash43}`,
      'no prefix': hash43,
      '42 characters': `a1~${'A'.repeat(42)}`,
      '44 characters': `a1~${'A'.repeat(44)}`,
      padding: `a1~${hash43}=`,
      'base64 that is not of URLs': `a1~${'+'.repeat(42)}A`,
      'another spelling of the same bytes': `a1~${'A'.repeat(42)}B`,
      'a space': ` a1~${hash43}`,
    }),
  }
}

/** `vectors/ids/file-ids.json`. */
export function fileIdVectors() {
  const contents = { 'no bytes': '', 'the text Hello': '48656c6c6f', 'bytes that are no text': '00ff1080' }
  const blobs = Object.entries(contents).flatMap(([name, hex]) =>
    ['first salt', 'second salt'].map((salt) => blob(`${name}, ${salt}`, hex, nonceOf(salt))),
  )
  const types = { BLOB: 'b1~', CRDT: 'f1~', RTDB: 'r1~', FLDR: 'd1~' }
  const [{ fileId = '' } = {}] = blobs
  return {
    description:
      'File ids. BLOB: "b1~" and base64url of SHA-256 over the four bytes of the text "blob", 16 bytes of salt and the 32 bytes of SHA-256 of the content. `sha256` and `salt` are base64url, as a descriptor tells them. CRDT, RTDB and FLDR: 32 random bytes. A variant id is a file id, "~" and the name of the variant. What has not the form of an id is answered like an unknown one.',
    blobs,
    types: Object.entries(types).map(([type, prefix]) => ({ type, fileId: prefix + hash43 })),
    invalid: listed({
      nothing: '',
      'an action id': `a1~${hash43}`,
      'another version': `b2~${hash43}`,
      'a capital prefix': `B1~${hash43}`,
      '42 characters': `b1~${'A'.repeat(42)}`,
      '44 characters': `b1~${'A'.repeat(44)}`,
      padding: `b1~${hash43}=`,
      'another spelling of the same bytes': `b1~${'A'.repeat(42)}B`,
      'a path': `b1~../${'A'.repeat(40)}`,
      'a variant id': `b1~${hash43}~tn`,
    }),
    variants: ['tn', 'ic', 'sd', 'hd', 'orig'].map((variant) => ({
      variantId: `${fileId}~${variant}`,
      fileId,
      variant,
    })),
    invalidVariants: listed({
      'a file id alone': fileId,
      'no variant': `${fileId}~`,
      'an unknown variant': `${fileId}~xl`,
      'a variant in capitals': `${fileId}~TN`,
      'two variants': `${fileId}~tn~tn`,
      'a bad file id': 'b1~x~tn',
    }),
  }
}

function blob(name: string, contentHex: string, salt: string) {
  const hash = createHash('sha256').update(Buffer.from(contentHex, 'hex')).digest()
  const id = createHash('sha256').update('blob').update(Buffer.from(salt, 'base64url')).update(hash)
  return {
    name,
    contentHex,
    salt,
    sha256: hash.toString('base64url'),
    fileId: `b1~${id.digest('base64url')}`,
  }
}

/** `vectors/ids/reference-ids.json`. */
export function referenceIdVectors() {
  return {
    description:
      'Reference ids: 24 characters 0-9, A-Z and a-z, drawn by chance. What has not this form is answered like an unknown one.',
    valid: ['0123456789ABCDEFabcdefgh', 'zzzzzzzzzzzzzzzzzzzzzzzz'].map((refId) => ({ refId })),
    invalid: listed({
      nothing: '',
      '23 characters': 'a'.repeat(23),
      '25 characters': 'a'.repeat(25),
      'a hyphen': `${'a'.repeat(23)}-`,
      'an underscore': `${'a'.repeat(23)}_`,
      'a letter that is not ASCII': `${'a'.repeat(23)}é`,
      'a line break after it': `${'a'.repeat(24)}\n`,
    }),
  }
}

function listed(texts: Record<string, string>) {
  return Object.entries(texts).map(([name, text]) => ({ name, text }))
}
