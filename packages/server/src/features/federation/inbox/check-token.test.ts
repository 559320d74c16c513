import type { IdTag } from '@kith/protocol'
import { describe, expect, test } from 'vitest'
import { hashOfToken, ownActionId } from '#features/actions/index.ts'
import { type CheckedToken, checkToken, notNow } from './check-token.ts'

const now = 1_780_000_000
const daySecs = 86_400
const dora = 'dora.example.com' as IdTag
const club = 'club.example.com' as IdTag

type Members = Record<string, unknown>

const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
const signature = Buffer.alloc(96, 1).toString('base64url')
const nonce = 'AAAAAAAAAAAAAAAAAAAAAA'

/** A token whose signature has not been checked yet. */
function tokenOf(members: Members = {}, issuerTag = dora): string {
  const actionId = ownActionId(issuerTag, nonce)
  const times = { createdAt: now, iat: now, exp: now + daySecs }
  const payload = { actionId, issuerTag, type: 'POST', nonce, ...times, ...members }
  return `${encode({ alg: 'ES384', typ: 'JWT', kid: '202601011234' })}.${encode(payload)}.${signature}`
}

/** The messages of the token's issues, or nothing. */
function issuesOf(token: string, beside?: string): readonly { path: string; message: string }[] {
  try {
    checkToken({ token, ...(beside === undefined ? {} : { beside }) }, now)
    return []
  } catch (error) {
    expect(error).toMatchObject({ code: 'E-VALIDATION' })
    return (error as { details: { issues: [] } }).details.issues
  }
}
const problemOf = (members: Members) => issuesOf(tokenOf(members))[0]?.message

describe('a token', () => {
  test('is read with its issuer and its id', () => {
    const text = tokenOf()
    expect(checkToken({ token: text }, now)).toMatchObject({
      text,
      actionId: ownActionId(dora, nonce),
      issuerTag: dora,
      payload: { type: 'POST', nonce, iat: now },
    })
  })

  test.each<[string, string, string]>([
    ['no compact JWS', 'hello', 'not a compact JWS'],
    ['of no issuer', tokenOf({ issuerTag: 'Dora.example.com' }), 'issuerTag is no identity'],
    ['of no action', tokenOf({ actionId: 'a1~' }), 'actionId has not the form'],
    ['of another action', tokenOf({ nonce: `${'B'.repeat(21)}A` }), 'actionId does not follow'],
    ['with a member that is wrong', tokenOf({ audience: 'all' }), '/audience must be array'],
    ['without a member', tokenOf({ createdAt: undefined }), '/ must have required properties createdAt'],
  ])('that is %s is refused with the reason', (_, token, message) => {
    expect(issuesOf(token)).toEqual([{ path: '/token', message: expect.stringContaining(message) }])
  })

  test('of another algorithm counts as unsigned', () => {
    const [, payload] = tokenOf().split('.')
    const token = `${encode({ alg: 'HS256', typ: 'JWT', kid: 'k' })}.${payload}.${signature}`
    expect(() => checkToken({ token }, now)).toThrow(expect.objectContaining({ code: 'E-AUTH-UNAUTH' }))
  })
})

describe('the times of a token', () => {
  const tenYears = 3650 * daySecs + 3 * daySecs
  const old = { iat: now - tenYears, createdAt: now - tenYears }

  test.each<[string, Members, string | undefined]>([
    ['ends in a second', { exp: now + 1 }, undefined],
    ['ends now', { exp: now }, 'the token has expired'],
    ['ended', { exp: now - 1 }, 'the token has expired'],
    ['ends a second after it began', { iat: now + 9, exp: now + 10 }, undefined],
    ['ends when it begins', { iat: now + 10, exp: now + 10 }, 'exp is not after iat'],
    ['ends before it begins', { iat: now + 11, exp: now + 10 }, 'exp is not after iat'],
    ['ends with its action', { exp: now + 10, expiresAt: now + 10 }, undefined],
    ['ends before its action', { exp: now + 10, expiresAt: now + 11 }, 'exp is not expiresAt'],
    ['lasts ten years', { exp: now + tenYears }, undefined],
    ['lasts longer', { exp: now + tenYears + 1 }, 'exp is too long after iat'],
    ['lasts longer, as its action', { exp: now + tenYears + 1, expiresAt: now + tenYears + 1 }, undefined],
    ['is almost ten years old', { iat: now - tenYears + 1 }, 'exp is too long after iat'],
    ['is almost ten years old, and soon over', { iat: now - tenYears + 1, exp: now + 1 }, undefined],
    ['is ten years old', { ...old, exp: now + 1, expiresAt: now + 1 }, 'the token is too old'],
    [
      'is ten years old and says two ends',
      { ...old, exp: now + 1, expiresAt: now + 2 },
      'the token is too old',
    ],
    ['lasts a week, of counts', { type: 'STAT', exp: now + 7 * daySecs }, undefined],
    ['lasts longer, of counts', { type: 'STAT', exp: now + 7 * daySecs + 1 }, 'exp is too long after iat'],
  ])('that %s', (_, members, message) => {
    expect(problemOf(members)).toBe(message)
  })

  test.each([
    [300, undefined],
    [301, 10],
    [310, 10],
    [311, 11],
    [3900, 3600],
    [99_999, 3600],
  ])('that are %i seconds ahead ask the sender to retry in %s', (aheadSecs, retryAfterSecs) => {
    const check = () => checkToken({ token: tokenOf({ iat: now + aheadSecs, exp: now + 10 * daySecs }) }, now)
    if (retryAfterSecs === undefined) return void check()
    const message = `The token is issued ${aheadSecs} seconds ahead of this server’s clock.`
    const details = { concerns: 'token' }
    const refusal = { code: 'E-UNAVAILABLE', message, retryAfterSecs, details }
    expect(check).toThrow(expect.objectContaining(refusal))
  })

  test('that lie in the future refuse this token only', () => {
    expect(notNow({ retryAfterSecs: 7 })).toMatchObject({
      code: 'E-UNAVAILABLE',
      retryAfterSecs: 7,
      details: { concerns: 'token' },
    })
  })
})

describe('an announcement', () => {
  const given = (members: Members = {}) => tokenOf({ audienceTag: club, ...members })
  const announcing = (members: Members) =>
    tokenOf({ type: 'ANNC', subject: ownActionId(dora, nonce), ...members }, club)
  const byHash = (token: string) => announcing({ content: { hash: hashOfToken(token) } })
  const refusal = (message: string, path = '/token') => [{ path, message }]
  const readBack = (token: string, beside?: string): CheckedToken =>
    checkToken({ token, ...(beside === undefined ? {} : { beside }) }, now)

  test.each<[string, Members]>([
    ['the audience', {}],
    ['one of the audience', { audienceTag: undefined, audience: [dora, club] }],
    ['in a thread that is its own, whoever it is for', { type: 'CMNT', audienceTag: undefined }],
  ])('carries what was addressed to the announcer: %s', (_, members) => {
    const inner = given(members)
    expect(readBack(byHash(inner), inner).announced?.text).toBe(inner)
    const holding = announcing({ content: { token: inner } })
    // A queued token has the announced one beside it, wherever that was delivered.
    for (const beside of [undefined, inner, given({ x: {} })])
      expect(readBack(holding, beside).announced?.text).toBe(inner)
  })

  test.each<[string, Members]>([
    ['another community', { audienceTag: 'other.example.com' }],
    ['nobody', { audienceTag: undefined }],
    ['others', { audienceTag: undefined, audience: [dora] }],
  ])('carries nothing that was addressed to %s', (_, members) => {
    const inner = given(members)
    const notGiven = refusal('the announced token was not given to the issuer')
    expect(issuesOf(byHash(inner), inner)).toEqual(notGiven)
    expect(issuesOf(announcing({ content: { token: inner } }))).toEqual(notGiven)
  })

  test('carries no token that is invalid by itself', () => {
    const ended = given({ exp: now })
    expect(issuesOf(byHash(ended), ended)).toEqual(refusal('the token has expired'))
    const ahead = given({ iat: now + 301 })
    expect(() => readBack(byHash(ahead), ahead)).toThrow(expect.objectContaining({ code: 'E-UNAVAILABLE' }))
  })

  test('carries the token that it names, and no other announcement', () => {
    const inner = given()
    const other = given({ actionId: ownActionId(dora, `${'B'.repeat(21)}A`), nonce: `${'B'.repeat(21)}A` })
    const notSubject = refusal('the announced token is not the subject')
    expect(issuesOf(byHash(other), other)).toEqual(notSubject)
    expect(issuesOf(announcing({ subject: undefined, content: { token: inner } }))).toEqual(notSubject)
    const nested = tokenOf({ type: 'ANNC', subType: 'DEL', audienceTag: club })
    expect(issuesOf(byHash(nested), nested)).toEqual(notSubject)
  })

  test('is refused without the token whose hash it signed', () => {
    const inner = given()
    const missing = refusal('the announced token is missing', '/announced')
    const wrong = refusal('content.hash is not that of the announced token')
    expect(issuesOf(byHash(inner))).toEqual(missing)
    expect(issuesOf(announcing({}))).toEqual(missing)
    expect(issuesOf(announcing({ content: { token: 7 } }))).toEqual(missing)
    expect(issuesOf(announcing({}), inner)).toEqual(wrong)
    expect(issuesOf(byHash(given({ x: {} })), inner)).toEqual(wrong)
    // When both are there, the hash counts.
    const both = announcing({ content: { token: inner, hash: hashOfToken(given({ x: {} })) } })
    expect(issuesOf(both, inner)).toEqual(wrong)
    expect(issuesOf(both)).toEqual(missing)
  })

  test('of a removal carries no token', () => {
    expect(readBack(announcing({ subType: 'DEL' }))).not.toHaveProperty('announced')
    expect(readBack(tokenOf({ subType: 'DEL' }))).not.toHaveProperty('announced')
    expect(readBack(tokenOf({ content: { hash: 'x' } }), given())).not.toHaveProperty('announced')
  })
})
