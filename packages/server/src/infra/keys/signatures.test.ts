import { createPublicKey, generateKeyPairSync, type KeyObject, sign as signNow } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { parseSignedToken } from '@kith/protocol'
import { CompactSign, compactVerify, jwtVerify, SignJWT } from 'jose'
import { describe, expect, test } from 'vitest'
import { Failure } from '#lib/failure.ts'
import { openSignatures } from './index.ts'

const signatures = openSignatures()
const pair = generateKeyPairSync('ec', { namedCurve: 'P-384' })
const stranger = generateKeyPairSync('ec', { namedCurve: 'P-384' })
const header = { alg: 'ES384', typ: 'JWT', kid: '20260101abcd' }

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')

async function tokenOf(
  head: unknown,
  payload: unknown = { iss: 'alice.example' },
  key: KeyObject = pair.privateKey,
) {
  const input = `${encode(head)}.${encode(payload)}`
  return `${input}.${Buffer.from(await signatures.sign(input, key)).toString('base64url')}`
}

const reasonOf = async (text: string, key: KeyObject = pair.publicKey) => {
  const token = parseSignedToken(text, 262_144)
  if ('problem' in token) return token.problem
  return (await signatures.verify(token.signingInput, token.signature, key)) ? 'valid' : 'signature'
}

describe('agrees with jose', () => {
  test('on what we sign', async () => {
    const token = await tokenOf(header, { iss: 'alice.example', note: 'ünïcode ✓' })
    const { payload, protectedHeader } = await jwtVerify(token, pair.publicKey, { algorithms: ['ES384'] })
    expect(payload).toEqual({ iss: 'alice.example', note: 'ünïcode ✓' })
    expect(protectedHeader).toEqual(header)
  })

  test('on what it signs', async () => {
    const token = await new SignJWT({ iss: 'alice.example' }).setProtectedHeader(header).sign(pair.privateKey)
    expect(await reasonOf(token)).toBe('valid')
    expect(parseSignedToken(token, 262_144)).toMatchObject({
      kid: header.kid,
      payload: { iss: 'alice.example' },
    })
  })

  test('on many tokens, and on the same ones with one bit changed', async () => {
    for (let round = 0; round < 40; round += 1) {
      const token = await tokenOf(header, { round })
      const at = token.lastIndexOf('.') + 1 + ((round * 31) % 128)
      const broken = token.slice(0, at) + (token[at] === 'A' ? 'B' : 'A') + token.slice(at + 1)
      expect(await reasonOf(token)).toBe('valid')
      expect(await reasonOf(broken), broken).toBe('signature')
      await expect(compactVerify(broken, pair.publicKey)).rejects.toThrow('signature')
    }
  })
})

test('verifies the P-384 vectors of RFC 6979, A.2.6', async () => {
  const point = {
    x: 'EC3A4E415B4E19A4568618029F427FA5DA9A8BC4AE92E02E06AAE5286B300C64DEF8F0EA9055866064A254515480BC13',
    y: '8015D9B72D7D57244EA8EF9AC0C621896708A59367F9DFB9F54CA84B3F1C9DB1288B231C3AE0D4FE7344FD2533264720',
  }
  const coordinate = (hex: string) => Buffer.from(hex, 'hex').toString('base64url')
  const jwk = { kty: 'EC', crv: 'P-384', x: coordinate(point.x), y: coordinate(point.y) }
  const key = createPublicKey({ key: jwk, format: 'jwk' })
  const sample =
    '94EDBB92A5ECB8AAD4736E56C691916B3F88140666CE9FA73D64C4EA95AD133C81A648152E44ACF96E36DD1E80FABE46' +
    '99EF4AEB15F178CEA1FE40DB2603138F130E740A19624526203B6351D0A3A94FA329C145786E679E7B82C71A38628AC8'
  const signature = Buffer.from(sample, 'hex')
  expect(await signatures.verify('sample', signature, key)).toBe(true)
  expect(await signatures.verify('simple', signature, key)).toBe(false)
})

describe('refuses', () => {
  test.each<[string, unknown, string]>([
    ['no algorithm', { typ: 'JWT', kid: 'k' }, 'algorithm'],
    ['the algorithm none', { ...header, alg: 'none' }, 'algorithm'],
    ['another case of the algorithm', { ...header, alg: 'es384' }, 'algorithm'],
    ['an HMAC', { ...header, alg: 'HS256' }, 'algorithm'],
    ['a smaller curve', { ...header, alg: 'ES256' }, 'algorithm'],
    ['a list of algorithms', { ...header, alg: ['ES384'] }, 'algorithm'],
    ['no type', { alg: 'ES384', kid: 'k' }, 'header'],
    ['another type', { ...header, typ: 'at+jwt' }, 'header'],
    ['no key id', { alg: 'ES384', typ: 'JWT' }, 'header'],
    ['a path as key id', { ...header, kid: '../../etc/passwd' }, 'header'],
    ['SQL as key id', { ...header, kid: "x' or 1=1" }, 'header'],
    ['a number as key id', { ...header, kid: 1 }, 'header'],
    ['a long key id', { ...header, kid: 'k'.repeat(65) }, 'header'],
    ['a critical extension', { ...header, crit: ['exp'] }, 'header'],
    ['an unencoded payload', { ...header, b64: false }, 'header'],
    ['a key in the header', { ...header, jwk: pair.publicKey.export({ format: 'jwk' }) }, 'header'],
    ['an address of keys', { ...header, jku: 'https://evil.example/keys' }, 'header'],
    ['a certificate', { ...header, x5c: ['MII'] }, 'header'],
    ['an address of a certificate', { ...header, x5u: 'https://evil.example/cert' }, 'header'],
    ['a header that is a list', [header], 'form'],
    ['a header that is null', null, 'form'],
  ])('%s, however well signed', async (_, head, reason) => {
    expect(await reasonOf(await tokenOf(head))).toBe(reason)
  })

  test.each<[string, (token: string) => string, string]>([
    ['an empty text', () => '', 'form'],
    ['two parts', (token) => token.split('.').slice(0, 2).join('.'), 'form'],
    ['four parts', (token) => `${token}.x`, 'form'],
    ['padding', (token) => `${token}=`, 'form'],
    ['white space', (token) => `${token} `, 'form'],
    ['a short signature', (token) => token.slice(0, -4), 'algorithm'],
    ['a long signature', (token) => `${token}AAAA`, 'algorithm'],
    ['an endless token', (token) => token.replace('.', `.${'A'.repeat(262_144)}`), 'form'],
    ['a signature of zeros', (token) => token.replace(/[^.]*$/, 'A'.repeat(128)), 'signature'],
    [
      'another payload',
      (token) => token.replace(/\.[^.]*\./, `.${encode({ iss: 'bob.example' })}.`),
      'signature',
    ],
    ['another key id', (token) => token.replace(/^[^.]*/, encode({ ...header, kid: 'other' })), 'signature'],
  ])('%s', async (_, change, reason) => {
    expect(await reasonOf(change(await tokenOf(header)))).toBe(reason)
  })

  test.each<[string, unknown]>([
    ['a payload that is a list', [1]],
    ['a payload that is a text', 'x'],
    ['a payload that is null', null],
  ])('%s', async (_, payload) => {
    expect(await reasonOf(await tokenOf(header, payload))).toBe('payload')
  })

  test('a payload that is not UTF-8', async () => {
    const input = `${encode(header)}.${Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]).toString('base64url')}`
    const signature = Buffer.from(await signatures.sign(input, pair.privateKey)).toString('base64url')
    expect(await reasonOf(`${input}.${signature}`)).toBe('payload')
  })

  test('the key of somebody else', async () => {
    expect(await reasonOf(await tokenOf(header), stranger.publicKey)).toBe('signature')
  })

  test('keys that are not public ones of P-384', async () => {
    const token = await tokenOf(header)
    const p256 = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    expect(await reasonOf(token, p256.publicKey)).toBe('signature')
    expect(await reasonOf(token, generateKeyPairSync('ed25519').publicKey)).toBe('signature')
    expect(await reasonOf(token, pair.privateKey)).toBe('signature')
    await expect(signatures.sign('x', p256.privateKey)).rejects.toThrow('P-384')
    await expect(signatures.sign('x', pair.publicKey)).rejects.toThrow('P-384')
  })

  test('a signature in DER, which is how other formats write it', async () => {
    const input = `${encode(header)}.${encode({})}`
    const der = signNow('sha384', Buffer.from(input), pair.privateKey)
    expect(await signatures.verify(input, der, pair.publicKey)).toBe(false)
  })
})

test('takes a token of jose with any payload bytes only when they are an object', async () => {
  const token = await new CompactSign(Buffer.from('[]')).setProtectedHeader(header).sign(pair.privateKey)
  expect(await reasonOf(token)).toBe('payload')
})

test('leaves the main thread free', async () => {
  const work = Promise.all(
    Array.from({ length: 60 }, (_, at) => signatures.sign(`input ${at}`, pair.privateKey)),
  )
  let turns = 0
  let isDone = false
  void work.finally(() => {
    isDone = true
  })
  while (!isDone) {
    await nextTurn()
    turns += 1
  }
  expect(turns).toBeGreaterThan(60)
})

test('turns work away when too much waits, and goes on after', async () => {
  const busy = openSignatures({ maxWaiting: 50 })
  const signature = await busy.sign('x', pair.privateKey)
  const verifications = Array.from({ length: 100 }, () => busy.verify('x', signature, pair.publicKey))
  const results = await Promise.allSettled(verifications)
  const refused = results.filter((result) => result.status === 'rejected')
  // Sixteen are under way and 50 wait.
  expect(refused).toHaveLength(34)
  for (const { reason } of refused) {
    expect(reason).toBeInstanceOf(Failure)
    expect(reason).toMatchObject({ code: 'E-UNAVAILABLE', retryAfterSecs: 5 })
  }
  expect(await busy.verify('x', signature, pair.publicKey)).toBe(true)
})

test('a flood of verifications does not hold up signing', async () => {
  const busy = openSignatures()
  const signature = await busy.sign('x', pair.privateKey)
  let verified = 0
  const flood = Array.from({ length: 400 }, () =>
    busy.verify('x', signature, pair.publicKey).then(() => (verified += 1)),
  )
  await busy.sign('y', pair.privateKey)
  expect(verified).toBeLessThan(100)
  await Promise.all(flood)
})
