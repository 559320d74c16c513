import { createHmac } from 'node:crypto'
import { type Cast, issued, type Members, now, payloadOf, tenYears, textForLength } from './cast.ts'
import { actionIdOf, encode, nonceOf, vectorKey } from './signing.ts'

interface BrokenToken {
  readonly token: string
  /** `E-VALIDATION` when left out. */
  readonly error?: 'E-AUTH-UNAUTH' | 'E-UNAVAILABLE'
}
type BrokenTokens = Record<string, BrokenToken>

/** Tokens that no server takes, by what is wrong with them. */
export function brokenTokens(cast: Cast): BrokenTokens {
  return {
    ...brokenForms(cast),
    ...brokenHeaders(cast),
    ...brokenPayloads(cast),
    ...forged(cast),
    ...brokenAnnouncements(cast),
  }
}

function brokenForms({ alice, by, keyOf, signer }: Cast): BrokenTokens {
  const { token } = by(alice, 'a public post')
  const unpadded = encode(payloadOf(alice.idTag, 'padded', { flags: 'ab' }))
  const [header = '', payload = '', signature = ''] = token.split('.')
  return {
    empty: { token: '' },
    'two parts': { token: `${header}.${payload}` },
    'four parts': { token: `${token}.${signature}` },
    'an empty signature': { token: `${header}.${payload}.` },
    'padding in base64url': { token: signer.token(keyOf(alice), padded(unpadded)) },
    'white space around it': { token: ` ${token}` },
    'a plus sign in the signature': { token: `${header}.${payload}.+${signature.slice(1)}` },
    'longer than a token may be': by(
      alice,
      'longer than a token may be',
      textForLength(alice, 'longer than a token may be', 262_145),
    ),
  }
}

function padded(text: string): string {
  if (text.length % 4 !== 3) throw new Error('this text has another padding')
  return `${text}=`
}

function brokenHeaders({ alice, by, keyOf, signer }: Cast): BrokenTokens {
  const { payload } = by(alice, 'a public post')
  const key = keyOf(alice)
  const good = { alg: 'ES384', typ: 'JWT', kid: key.kid }
  const headed = (header: unknown) => ({ token: signer.token(key, payload, header) })
  return {
    'header is no JSON': headed(Buffer.from('{').toString('base64url')),
    'header in another spelling of base64url': headed(
      respelled(Buffer.from(`${JSON.stringify(good)} `).toString('base64url')),
    ),
    'typ missing': headed({ alg: 'ES384', kid: key.kid }),
    'typ in lower case': headed({ ...good, typ: 'jwt' }),
    'no kid': headed({ alg: 'ES384', typ: 'JWT' }),
    'a path as kid': headed({ ...good, kid: '../../etc/passwd' }),
    'an empty kid': headed({ ...good, kid: '' }),
    'a kid of 65 characters': headed({ ...good, kid: 'k'.repeat(65) }),
    'crit in the header': headed({ ...good, crit: ['exp'] }),
    'jwk in the header': headed({ ...good, jwk: {} }),
    'jku in the header': headed({ ...good, jku: 'https://evil.example.net/keys' }),
    'x5u in the header': headed({ ...good, x5u: 'https://evil.example.net/cert' }),
  }
}

function respelled(text: string): string {
  const last = text.slice(-1)
  if (text.length % 4 < 2) throw new Error('this text has one spelling only')
  return text.slice(0, -1) + String.fromCharCode(last.charCodeAt(0) + 1)
}

function forged({ alice, by, keyOf, signer }: Cast): BrokenTokens {
  const error = 'E-AUTH-UNAUTH'
  const { payload, token } = by(alice, 'a public post')
  const key = keyOf(alice)
  const header = (members: Members) => ({ alg: 'ES384', typ: 'JWT', kid: key.kid, ...members })
  const input = (members: Members) => `${encode(header(members))}.${encode(payload)}`
  const pem = key.publicKey.export({ type: 'spki', format: 'pem' })
  const hmac = (alg: 'HS256' | 'HS384') => {
    const bytes = createHmac(alg === 'HS256' ? 'sha256' : 'sha384', pem)
      .update(input({ alg }))
      .digest()
    return {
      token: `${input({ alg })}.${Buffer.concat([bytes], alg === 'HS256' ? bytes.length : 96).toString('base64url')}`,
      error,
    } as const
  }
  const zeros = (members: Members, length = 96) =>
    ({
      token: `${input(members)}.${Buffer.alloc(length).toString('base64url')}`,
      error,
    }) as const
  const signedUnder = (alg: unknown) =>
    ({ token: signer.token(key, payload, header({ alg })), error }) as const
  const [head, , signature] = token.split('.')
  return {
    'alg none, no signature': { token: `${input({ alg: 'none' })}.` },
    'alg none, with a signature': signedUnder('none'),
    'alg in odd case': signedUnder('es384'),
    'alg missing': signedUnder(undefined),
    'HS256 with the public key as secret': hmac('HS256'),
    'HS384 with the public key as secret, padded to 96 bytes': hmac('HS384'),
    'ES256, 64 bytes': zeros({ alg: 'ES256' }, 64),
    'signature of 64 bytes under ES384': zeros({}, 64),
    'signature of 97 bytes': {
      token: `${head}.${encode(payload)}.${signature}AA`,
      error,
    },
    'signature of zeros': zeros({}),
    'unknown kid': { token: signer.token(vectorKey('20260131none'), payload), error },
    'another key’s signature': {
      token: signer.token(vectorKey('of somebody else'), payload, header({})),
      error,
    },
    'payload changed after signing': {
      token: `${head}.${encode({ ...payload, content: { text: 'Goodbye' } })}.${signature}`,
      error,
    },
    'signed with a retired key after its end': {
      ...by(alice, 'retired', issued(now - 86_399), '20250101WxYz'),
      error,
    },
    'issued by somebody the receiver cannot find': {
      token: signer.token(key, payloadOf('nobody.example.net', 'nobody')),
      error,
    },
    'issued in the name of another identity': {
      token: signer.token(key, payloadOf('club.example.org', 'stolen')),
      error,
    },
  }
}

/** Payloads that are signed as they should be. */
function brokenPayloads({ alice, by, keyOf, signer }: Cast): BrokenTokens {
  const raw = (bytes: string | Uint8Array) => ({
    token: signer.token(keyOf(alice), Buffer.from(bytes as string).toString('base64url')),
  })
  const text = JSON.stringify(payloadOf(alice.idTag, 'raw'))
  const withContent = (content: string) => raw(text.replace('{"text":"Hello"}', content))
  const members = Object.entries(brokenMembers(alice.idTag)).map(
    ([name, given]) => [name, { token: by(alice, name, given).token, ...errorOf(given) }] as const,
  )
  return {
    'payload is an array': raw('[]'),
    'payload is a text': raw('"Hello"'),
    'payload is null': raw('null'),
    'payload is not UTF-8': raw(Buffer.from(text.replace('Hello', 'H\u00fcllo'), 'latin1')),
    'payload after a byte order mark': raw(`\ufeff${text}`),
    'payload in another spelling of base64url': {
      token: signer.token(
        keyOf(alice),
        respelled(encode(payloadOf(alice.idTag, 'respelled', { flags: 'c' }))),
      ),
    },
    'U+0000 in a text': withContent('{"text":"Hel\\u0000lo"}'),
    'U+0000 in a list': withContent('{"text":"Hello","tags":["\\u0000"]}'),
    'U+0000 in the name of a member': withContent('{"text":"Hello","\\u0000":1}'),
    'content nested one level deeper than it may be': withContent(
      `{"text":"x","deep":${'['.repeat(63)}${']'.repeat(63)}}`,
    ),
    'content nested 30 000 levels deep': withContent(
      `{"text":"x","deep":${'['.repeat(30_000)}${']'.repeat(30_000)}}`,
    ),
    ...Object.fromEntries(members),
  }
}

/** What is wrong with a clock alone is no fault of the token. */
function errorOf({ iat }: Members): Pick<BrokenToken, 'error'> {
  const isAhead = typeof iat === 'number' && iat > now + 300 && iat < 1e11
  return isAhead ? { error: 'E-UNAVAILABLE' } : {}
}

const pastOf = (iat: number, expiresAt: number) => ({ createdAt: iat, iat, exp: expiresAt, expiresAt })

/** An action whose id follows from whatever is said to be its issuer. */
const spare = nonceOf('of an issuer that is none')

function brokenMembers(idTag: string): Record<string, Members> {
  const nonce = (given: string) => ({ nonce: given, actionId: actionIdOf(idTag, given) })
  const issuer = (given: string) => ({ issuerTag: given, nonce: spare, actionId: actionIdOf(given, spare) })
  const ends = (expiresAt: number) => ({ expiresAt, exp: expiresAt })
  const day = 86_400
  return {
    'actionId of other nonce': { actionId: actionIdOf(idTag, 'another nonce') },
    'actionId of another issuer': { actionId: actionIdOf('bob.example.com', 'x') },
    'actionId malformed': { actionId: 'act_1' },
    'no actionId': { actionId: undefined },
    'no nonce': { nonce: undefined },
    'a nonce of exclamation marks': nonce('!'.repeat(22)),
    'a nonce of 21 characters': nonce('A'.repeat(21)),
    'a nonce of 23 characters': nonce('A'.repeat(23)),
    'a nonce with padding': nonce('A'.repeat(20).concat('==')),
    'a nonce in another spelling of base64url': nonce('A'.repeat(21).concat('B')),
    'issuerTag in capitals': issuer('Alice.example.com'),
    'issuerTag with a dot at its end': issuer('alice.example.com.'),
    'issuerTag in U-labels': issuer('älice.example.com'),
    'issuerTag is an address': issuer('192.0.2.1'),
    'no issuerTag': { issuerTag: undefined },
    'no type': { type: undefined },
    'an empty type': { type: '' },
    'a type of 17 characters': { type: 'T'.repeat(17) },
    'a subType of 33 characters': { subType: 's'.repeat(33) },
    'flags of 33 characters': { flags: 'f'.repeat(33) },
    'content is no object': { content: 'Hello' },
    'content is a list': { content: [] },
    'x is no object': { x: 1 },
    'visibility is no code': { visibility: 'X' },
    'visibility null, which is said by leaving it out': { visibility: null },
    'parentId of 301 characters': { type: 'CMNT', parentId: `a1~${'A'.repeat(298)}` },
    'subject of 301 characters': { type: 'SHRE', subject: 's'.repeat(301) },
    'subject is no text': { subject: 1 },
    'subjectHash of 42 characters': { type: 'SHRE', subject: 's', subjectHash: 'A'.repeat(42) },
    'parentHash is null': { type: 'CMNT', parentId: actionIdOf(idTag, 'x'), parentHash: null },
    '51 attachments': { attachments: Array.from({ length: 51 }, () => `b1~${'A'.repeat(43)}`) },
    'an attachment of 65 characters': { attachments: [`b1~${'A'.repeat(62)}`] },
    '101 members of the audience': { audience: Array.from({ length: 101 }, (_, at) => `n${at}.example.net`) },
    'audience is no list': { audience: 'bob.example.org' },
    'no iat': { iat: undefined },
    'no exp': { exp: undefined },
    'no createdAt': { createdAt: undefined },
    'iat in milliseconds': { iat: now * 1000 },
    'iat as text': { iat: String(now) },
    'iat with a fraction': { iat: now + 0.5 },
    'iat is zero': pastOf(0, now + day),
    'iat before 1970': { iat: -1 },
    'iat more than 300 s ahead': issued(now + 301),
    'issued ten years and the leap days ago': pastOf(now - 3653 * day, now + day),
    'createdAt in milliseconds': { createdAt: now * 1000 },
    'createdAt with a fraction': { createdAt: now + 0.5 },
    'exp in milliseconds': { exp: now * 1000 },
    'exp with a fraction': { exp: now + 0.5 },
    'exp in this second': { ...issued(now - 60), exp: now },
    'exp before iat, both ahead': { iat: now + 300, exp: now + 299 },
    'exp at iat, ahead': { iat: now + 300, exp: now + 300 },
    'exp more than ten years and the leap days after iat': { exp: now + 3653 * day + 1 },
    'expiresAt without the same exp': { expiresAt: now + day },
    'expiresAt after exp': { expiresAt: now + 2 * tenYears },
    'expiresAt in milliseconds': ends(now * 1000),
    'expiresAt as text': { expiresAt: String(now + day), exp: now + day },
    'expiresAt with a fraction': ends(now + 0.5),
    'expiresAt is negative': ends(-1),
    'expiresAt is 2^53': ends(2 ** 53),
    'expiresAt is 2^63': ends(2 ** 63),
    'expiresAt is 1e30': ends(1e30),
    'counts that are good for more than seven days': stat({ exp: now + 7 * day + 1 }),
    'counts of eight days ago': stat({ iat: now - 8 * day, exp: now + day, expiresAt: now + day }),
  }
}

function stat(times: Members): Members {
  const subject = actionIdOf('alice.example.com', 'x')
  return { type: 'STAT', subject, content: { views: 1 }, visibility: undefined, ...times }
}

function brokenAnnouncements({ alice, club, by, keyOf, signer }: Cast): BrokenTokens {
  const toClub = { audienceTag: club.idTag, visibility: 'F' }
  const announced = (name: string, token: unknown, members: Members = {}) => {
    const subject = payloadOf(alice.idTag, name).actionId
    const word = {
      type: 'ANNC',
      subject,
      content: { token },
      visibility: undefined,
      exp: now + 3600,
      ...members,
    }
    return { token: by(club, `announcement: ${name}`, word).token }
  }
  const of = (name: string, members: Members = {}) =>
    announced(name, by(alice, name, { ...toClub, ...members }).token)
  const inner = by(club, 'inner announcement', {
    type: 'ANNC',
    subject: payloadOf(alice.idTag, 'x').actionId,
    exp: now + 3600,
    ...toClub,
  })
  const forgedInner = signer.token(keyOf(club), payloadOf(alice.idTag, 'announced forgery', toClub), {
    alg: 'ES384',
    typ: 'JWT',
    kid: keyOf(alice).kid,
  })
  return {
    'an announcement of what was given to nobody': of('given to nobody', { audienceTag: undefined }),
    'an announcement of what was given to another': of('given to another', {
      audienceTag: 'other.example.org',
    }),
    'an announcement of what is not its subject': announced(
      'its subject',
      by(alice, 'not its subject', toClub).token,
    ),
    'an announcement of an announcement': announced('x', inner.token, { subject: inner.payload.actionId }),
    'an announcement of no token': announced('no token', 'Hello'),
    'an announcement of a number': announced('a number', 1),
    'an announcement of what has expired': of('has expired', { exp: now }),
    'an announcement that is good for more than 60 days': announced(
      'for long',
      by(alice, 'for long', toClub).token,
      { exp: now + 60 * 86_400 + 1 },
    ),
    'an announcement of what another signed': {
      ...announced('announced forgery', forgedInner),
      error: 'E-AUTH-UNAUTH',
    },
  }
}
