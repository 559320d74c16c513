import type { RefusalReason } from '@kith/protocol'
import { type Cast, castOf, now } from './cast.ts'
import { encode, publishedKey, type Signer, vectorKey } from './signing.ts'

type Use = 'proxy' | 'logout'

const shown =
  'shown at the time `now` on the host of `audience`, whose server knows the issuers with exactly these keys.'

const descriptions: Record<Use, string> = {
  proxy: `Proxy tokens (compact JWS, ES384) ${shown} A valid token proves who \`iss\` is, any number of times until \`exp\`; an invalid one is 401 with this \`reason\`.`,
  logout: `Logout tokens (compact JWS, ES384) ${shown} A valid token ends the proxy tokens of \`iss\` that \`ends\` names: those of a session, or those issued up to a time (Unix seconds); an invalid one is 401 with this \`reason\`.`,
}

const audience = 'bob.example.org'

/** `vectors/tokens/proxy-tokens.json`. */
export function proxyTokenVectors(signer: Signer) {
  return identityTokenVectors('proxy', signer)
}

/** `vectors/tokens/logout-tokens.json`. */
export function logoutTokenVectors(signer: Signer) {
  const { valid, ...rest } = identityTokenVectors('logout', signer)
  const endsOf = ({ sid, before, iat }: Record<string, unknown>) =>
    typeof sid === 'string' ? { sid } : { before: Number.isSafeInteger(before) ? before : iat }
  return { ...rest, valid: valid.map((one) => ({ ...one, ends: endsOf(one.claims) })) }
}

function identityTokenVectors(use: Use, signer: Signer) {
  const cast = castOf(signer)
  const issuers = [cast.alice].map(({ idTag, keys }) => ({ idTag, keys: keys.map(publishedKey) }))
  const key = cast.keyOf(cast.alice)
  const sound = { ...soundClaims, ...(use === 'logout' ? soundLogouts : {}) }
  const valid = Object.entries(sound).map(([name, members]) => {
    const claims = claimsOf(cast, name, { use, ...members })
    return { name, token: signer.token(key, claims), claims }
  })
  const invalid = [
    ...Object.entries({ ...brokenClaims, ...otherUses[use] }).map(([name, { kid, ...members }]) => {
      const used = kid === undefined ? key : cast.keyOf(cast.alice, kid)
      return { name, token: signer.token(used, claimsOf(cast, name, { use, ...members })) }
    }),
    ...brokenTokens(cast, signer, use),
  ]
  const refused = invalid.map((one) => ({ ...one, reason: reasons[one.name] ?? 'malformed' }))
  return { description: descriptions[use], now, audience, issuers, valid, invalid: refused }
}

/** Of those that are not malformed. */
const reasons: Readonly<Record<string, RefusalReason>> = {
  'for another': 'wrong-tenant',
  'for several': 'wrong-tenant',
  'for an audience in capitals': 'wrong-tenant',
  'for nobody': 'wrong-tenant',
  'of an issuer that cannot be found': 'unknown-issuer',
  'expired in this second': 'expired',
  'signed with a retired key after its end': 'revoked',
  'of the one that it is for': 'wrong-tenant',
  'another key’s signature': 'bad-signature',
  'claims changed after signing': 'bad-signature',
  'an unknown kid': 'key-unavailable',
}

type Claims = Readonly<Record<string, unknown>> & { readonly kid?: string }

function claimsOf({ alice }: Cast, name: string, members: Readonly<Record<string, unknown>>) {
  const jti = Buffer.from(name).toString('base64url').slice(0, 64).padEnd(8, '-')
  const { use, ...others } = members
  const claims = { iss: alice.idTag, aud: audience, use, jti, iat: now, exp: now + 300, ...others }
  return Object.fromEntries(Object.entries(claims).filter(([, value]) => value !== undefined))
}

const soundClaims: Record<string, Claims> = {
  'good for five minutes': {},
  'good for an hour, the longest': { exp: now + 3600 },
  'issued 300 s ahead of the receiver’s clock': { iat: now + 300, exp: now + 600 },
  'good for one more second': { iat: now - 299, exp: now + 1 },
  'unknown claims are ignored': { scope: 'read', nothing: null },
  'a jti of 8 characters': { jti: 'A-z_0.9~' },
  'a jti of 128 characters': { jti: 'j'.repeat(128) },
}

const soundLogouts: Record<string, Claims> = {
  'of a session': { sid: 'a-name-of-a-session' },
  'of a session, whatever the time': { sid: 'a-name-of-a-session', before: now - 60 },
  'of what was issued up to a minute ago': { before: now - 60 },
  'of what is issued within the next two seconds': { before: now + 2 },
}

const otherUses: Record<Use, Record<string, Claims>> = {
  proxy: {},
  logout: {
    'a proxy token': { use: 'proxy' },
    'a session without a name': { sid: '' },
    'a session with a name of 65 characters': { sid: 's'.repeat(65) },
    'a session that is a number': { sid: 7 },
    'of what was issued up to a fraction': { before: now - 0.5 },
    'of what was issued up to a negative time': { before: -1 },
    'of what was issued up to a text': { before: String(now) },
  },
}

const brokenClaims: Record<string, Claims> = {
  'for another': { aud: 'carol.example.org' },
  'for several': { aud: [audience, 'carol.example.org'] },
  'for an audience in capitals': { aud: 'Bob.example.org' },
  'for nobody': { aud: undefined },
  'for another use': { use: 'login' },
  'for no use': { use: undefined },
  'of nobody': { iss: undefined },
  'of an issuer in capitals': { iss: 'Alice.example.com' },
  'of an issuer that cannot be found': { iss: 'nobody.example.net' },
  'of the one that it is for': { iss: audience },
  'without jti': { jti: undefined },
  'a jti of 7 characters': { jti: 'seven77' },
  'a jti of 129 characters': { jti: 'j'.repeat(129) },
  'a jti with a slash': { jti: 'abcdefgh/' },
  'without iat': { iat: undefined },
  'without exp': { exp: undefined },
  'issued 301 s ahead': { iat: now + 301, exp: now + 600 },
  'expired in this second': { iat: now - 300, exp: now },
  'good for more than an hour': { exp: now + 3601 },
  'an end before its issue': { iat: now + 300, exp: now + 299 },
  'an end with a fraction': { exp: now + 0.5 },
  'an issue with a fraction': { iat: now - 0.5 },
  'an end in milliseconds': { exp: (now + 300) * 1000 },
  'an issue in milliseconds': { iat: now * 1000 },
  'an end as text': { exp: String(now + 300) },
  'an issue as text': { iat: String(now) },
  'signed with a retired key after its end': { kid: '20250101WxYz' },
}

function brokenTokens(cast: Cast, signer: Signer, use: Use) {
  const key = cast.keyOf(cast.alice)
  const claims = claimsOf(cast, 'good for five minutes', { use })
  const header = { alg: 'ES384', typ: 'JWT', kid: key.kid }
  const token = signer.token(key, claims)
  const [head, , signature] = token.split('.')
  const action = cast.by(cast.alice, 'a public post', { audienceTag: audience })
  return [
    { name: 'an action token', token: action.token },
    { name: 'another key’s signature', token: signer.token(vectorKey('of somebody else'), claims, header) },
    { name: 'an unknown kid', token: signer.token(vectorKey('20260131none'), claims) },
    {
      name: 'claims changed after signing',
      token: `${head}.${encode({ ...claims, jti: 'another-one' })}.${signature}`,
    },
    { name: 'typ missing', token: signer.token(key, claims, { alg: 'ES384', kid: key.kid }) },
    { name: 'jwk in the header', token: signer.token(key, claims, { ...header, jwk: {} }) },
    { name: 'no signature', token: token.slice(0, token.lastIndexOf('.') + 1) },
    {
      name: 'longer than 4096 characters',
      token: signer.token(key, { ...claims, filler: 'x'.repeat(4000) }),
    },
  ]
}
