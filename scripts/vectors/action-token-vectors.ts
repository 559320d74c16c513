import type { RefusalReason } from '@kith/protocol'
import { brokenTokens } from './broken-action-tokens.ts'
import { type Cast, castOf, issued, type Members, now, payloadOf, tenYears, textForLength } from './cast.ts'
import { hashOf, partsOf, publishedKey, type Signer, told } from './signing.ts'

const description = [
  'Action tokens (compact JWS, ES384), judged at the time `now` by a receiver that knows the issuers with exactly these keys.',
  'A valid token has the given payload; an invalid one is refused with the given error code and `details.reason` of the API: E-VALIDATION before',
  'or E-AUTH-UNAUTH by a look at the signature; E-UNAVAILABLE asks to come again. What the type of an action makes of a valid token is in ../actions.',
  'Where a token repeats itself it is given in `parts`, to be put together: texts, and `repeat` so many `times`.',
  'So is then its payload, whose JSON is in `payloadParts`.',
].join(' ')

/** `vectors/tokens/action-tokens.json`. */
export function actionTokenVectors(signer: Signer) {
  const cast = castOf(signer)
  const valid = Object.entries(soundTokens(cast)).map(([name, { token, payload }]) => ({
    name,
    ...told(token),
    ...toldPayload(payload, token.length > 10_000),
  }))
  const invalid = Object.entries(brokenTokens(cast)).map(([name, { token, error = 'E-VALIDATION' }]) => ({
    name,
    ...told(token),
    error,
    ...(error === 'E-UNAVAILABLE' ? {} : { reason: reasons[name] ?? usualReason[error] }),
  }))
  const issuers = cast.issuers.map(({ idTag, type, keys }) => ({ idTag, type, keys: keys.map(publishedKey) }))
  return { description, now, issuers, valid, invalid }
}

function toldPayload(payload: Members, isLong: boolean) {
  return isLong ? { payloadParts: partsOf(JSON.stringify(payload)) } : { payload }
}

const usualReason: Readonly<Record<string, RefusalReason>> = {
  'E-VALIDATION': 'malformed',
  'E-AUTH-UNAUTH': 'bad-signature',
}

const reasons: Readonly<Record<string, RefusalReason>> = {
  'issued ten years and the leap days ago': 'expired',
  'iat is zero': 'expired',
  'exp in this second': 'expired',
  'counts of eight days ago': 'expired',
  'an announcement of what has expired': 'expired',
  'unknown kid': 'key-unavailable',
  'issued in the name of another identity': 'key-unavailable',
  'signed with a retired key after its end': 'revoked',
  'issued by somebody the receiver cannot find': 'unknown-issuer',
}

const hash43 = (letter: string) => letter.repeat(42).concat('A')
const fileIds = (count: number) =>
  Array.from({ length: count }, (_, at) => `b1~${hash43(String.fromCharCode(65 + (at % 26)))}`)
const names = (count: number) => Array.from({ length: count }, (_, at) => `n${at}.example.net`)

function soundTokens(cast: Cast) {
  const { alice, club, by } = cast
  const given = by(alice, 'given to a community', { audienceTag: club.idTag, visibility: 'F' })
  const repost = by(alice, 'a repost that names the token it means', {
    type: 'REPOST',
    subject: given.payload.actionId,
    subjectHash: hashOf(given.token),
    content: undefined,
  })
  const ends = (expiresAt: number) => ({ expiresAt, exp: expiresAt })
  return Object.fromEntries(
    [
      by(alice, 'a public post'),
      by(alice, 'a follow, without content and visibility', {
        type: 'FLLW',
        audienceTag: 'bob.example.org',
        content: undefined,
        visibility: undefined,
      }),
      by(alice, 'every text is Unicode; attachments, expiry, extensions', {
        content: { text: 'Grüße, 世界 🌍' },
        attachments: fileIds(1),
        x: { mood: 'glad' },
        flags: 'c',
        ...ends(now + 3600),
      }),
      by(alice, 'unknown payload members are ignored', { color: 'blue', nothing: null }),
      by(alice, 'a type that the receiver does not know', { type: 'POLL' }),
      by(alice, 'issued 300 s ahead of the receiver’s clock', issued(now + 300)),
      by(alice, 'made long before it was issued', { createdAt: now - 86_400 }),
      by(alice, 'issued ten years ago, less a second', issued(now - tenYears + 1)),
      by(alice, 'issued ten years and the leap days ago, less a second', {
        ...issued(now - 3653 * 86_400 + 1),
        ...ends(now + 3600),
      }),
      by(alice, 'an end sooner than ten years', { exp: now + 1 }),
      by(alice, 'an end after ten years with leap days', { exp: now + 3653 * 86_400 }),
      by(alice, 'an expiry later than ten years', ends(now + 2 * tenYears)),
      by(alice, 'an expiry in the last second there is', ends(99_999_999_999)),
      by(alice, 'content nested as deep as it may be', { content: { text: 'x', deep: nested(61) } }),
      by(alice, 'an escaped backslash before u0000', { content: { text: '\\u0000' } }),
      by(alice, '50 attachments', { attachments: fileIds(50) }),
      by(alice, '100 members of the audience', { audience: names(100) }),
      by(alice, 'a subject of 300 characters', { type: 'SHRE', subject: 's'.repeat(300) }),
      by(alice, 'as long as a token may be', textForLength(alice, 'as long as a token may be', 262_144)),
      by(alice, 'signed with a key whose kid has 64 characters', {}, 'k'.repeat(64)),
      by(alice, 'signed with a retired key before its end', issued(now - 86_401), '20250101WxYz'),
      by(alice, 'signed with a retired key in the second of its end', issued(now - 86_400), '20250101WxYz'),
      repost,
      by(alice, 'an answer to a comment that names the tokens it means', {
        type: 'CMNT',
        parentId: repost.payload.actionId,
        parentHash: hashOf(repost.token),
        rootId: given.payload.actionId,
        rootHash: hashOf(given.token),
        visibility: undefined,
      }),
      by(alice, 'a deletion', {
        subType: 'DEL',
        subject: given.payload.actionId,
        content: undefined,
        visibility: undefined,
      }),
      by(alice, 'counts, good for seven days', {
        type: 'STAT',
        subject: given.payload.actionId,
        content: { reactions: 1, comments: 0 },
        visibility: undefined,
        exp: now + 7 * 86_400,
      }),
      given,
      by(club, 'an announcement that holds the token it passes on, good for 60 days', {
        type: 'ANNC',
        subject: given.payload.actionId,
        content: { token: given.token },
        visibility: undefined,
        exp: now + 60 * 86_400,
      }),
      by(club, 'an announcement that something was taken away', {
        type: 'ANNC',
        subType: 'DEL',
        subject: given.payload.actionId,
        content: undefined,
        visibility: undefined,
        exp: now + 60 * 86_400,
      }),
      repeated(cast),
    ].map((made) => [made.name, made]),
  )
}

/** Of a member that stands twice the last counts (RFC 7519). */
function repeated({ alice, keyOf, signer }: Cast) {
  const name = 'members that stand twice, of which the last counts'
  const payload = payloadOf(alice.idTag, name)
  const text = JSON.stringify(payload)
  const twice = text
    .replace('{', '{"type":"MSG","issuerTag":"bob.example.com",')
    .replace('"content":{', '"content":{"text":"First",')
  const token = signer.token(keyOf(alice), Buffer.from(twice).toString('base64url'))
  return { name, token, payload }
}

function nested(levels: number): unknown {
  return levels === 0 ? [] : [nested(levels - 1)]
}
