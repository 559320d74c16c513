import { createPublicKey, verify } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { Failure } from '#lib/failure.ts'
import { checkToken } from './check-token.ts'
import { type IssuerKeys, openTokenVerifier } from './verify-token.ts'

interface Told {
  readonly name: string
  readonly token?: string
  /** Instead of `token`, for a text with repetitions. */
  readonly parts?: readonly (string | { repeat: string; times: number })[]
}

interface Vectors {
  readonly now: number
  readonly issuers: readonly {
    idTag: string
    keys: readonly { kid: string; publicKey: string; expiresAt?: number }[]
  }[]
  readonly valid: readonly (Told & { payload: Record<string, unknown> })[]
  readonly invalid: readonly (Told & { error: string; reason?: string })[]
}

const path = new URL('../../../../../../vectors/tokens/action-tokens.json', import.meta.url)
const vectors = JSON.parse(readFileSync(path, 'utf8'), (_, value) =>
  value?.payloadParts ? { ...value, payload: JSON.parse(joined(value.payloadParts)) } : value,
) as Vectors

function textOf({ token, parts = [] }: Told): string {
  return token ?? joined(parts)
}

function joined(parts: NonNullable<Told['parts']>): string {
  return parts.map((it) => (typeof it === 'string' ? it : it.repeat.repeat(it.times))).join('')
}

function keysOf(idTag: string): IssuerKeys {
  const issuer = vectors.issuers.find((it) => it.idTag === idTag)
  if (!issuer) return { kind: 'unknown' }
  const keys = issuer.keys.map(({ publicKey, ...key }) => ({ ...key, key: createPublicKey(publicKey) }))
  return { kind: 'found', keys }
}

function withRevocation(idTag: string, revokedAt: number | undefined): IssuerKeys {
  const found = keysOf(idTag)
  if (found.kind !== 'found' || revokedAt === undefined) return found
  return { kind: 'found', keys: found.keys.map((key) => ({ ...key, revokedAt })) }
}

function verifierOf(findKeys: (idTag: string, refresh: boolean) => IssuerKeys = keysOf, mostTokens = 1000) {
  const asked: boolean[] = []
  const admitted: string[] = []
  const verifier = openTokenVerifier({
    findKeys: async (idTag, { refresh }) => {
      asked.push(refresh)
      return findKeys(idTag, refresh)
    },
    admitIssuer: async (issuerTag) => {
      if (admitted.push(issuerTag) > mostTokens) throw new Failure('E-RATELIMIT')
    },
    verifySignature: async (signingInput, signature, key) =>
      verify('sha384', Buffer.from(signingInput), { key, dsaEncoding: 'ieee-p1363' }, signature),
  })
  return { verifier, asked, admitted }
}

const sender = '203.0.113.9'

async function judge(text: string) {
  const checked = checkToken({ token: text }, vectors.now)
  await verifierOf().verifier.verify(checked, sender)
  return checked
}

describe('action token vectors', () => {
  test.each(vectors.valid)('accepts $name', async (vector) => {
    const { payload, issuerTag } = await judge(textOf(vector))
    expect(payload).toMatchObject(vector.payload)
    expect(issuerTag).toBe(vector.payload.issuerTag)
  })

  test.each(vectors.invalid)('refuses $name', async ({ error, reason, ...vector }) => {
    const details = reason === undefined ? {} : { reason }
    await expect(judge(textOf(vector))).rejects.toMatchObject({ code: error, details })
  })

  test('each have an action of their own', () => {
    const ids = vectors.valid.map(({ payload }) => payload.actionId)
    expect(new Set(ids).size).toBe(ids.length)
  })
})

const [first] = vectors.valid as [Vectors['valid'][number]]
const token = textOf(first)
const checked = checkToken({ token }, vectors.now)

describe('the issuer’s keys', () => {
  test('verify a token once: a redelivered one is known', async () => {
    const { verifier, admitted } = verifierOf()
    expect(await verifier.verify(checked, sender)).toBe(true)
    expect(await verifier.verify(checked, sender)).toBe(true)
    expect(admitted).toHaveLength(1)
  })

  test('that were revoked since invalidate an earlier verification, without another request', async () => {
    const { verifier, asked } = verifierOf((issuerTag) => withRevocation(issuerTag, revokedAt))
    let revokedAt: number | undefined
    const { iat } = checked.payload
    await verifier.verify(checked, sender)
    revokedAt = iat + 1
    await verifier.verify(checked, sender)
    for (revokedAt of [iat, iat - 1])
      await expect(verifier.verify(checked, sender)).rejects.toMatchObject({ code: 'E-AUTH-UNAUTH' })
    expect(asked).not.toContain(true)
  })

  test('are asked for again when the kid is not among them', async () => {
    const unknown = vectors.invalid.find(({ name }) => name === 'unknown kid')
    const { verifier, asked } = verifierOf()
    await expect(
      verifier.verify(checkToken({ token: textOf(unknown ?? { name: '' }) }, vectors.now), sender),
    ).rejects.toMatchObject({
      code: 'E-AUTH-UNAUTH',
    })
    expect(asked).toEqual([false, true])
  })

  test('of an unknown issuer are a refusal, those of an unreachable one are not', async () => {
    await expect(
      verifierOf(() => ({ kind: 'unknown' })).verifier.verify(checked, sender),
    ).rejects.toMatchObject({
      code: 'E-AUTH-UNAUTH',
    })
    const { verifier, asked } = verifierOf(() => ({ kind: 'unreachable' }))
    expect(await verifier.verify(checked, sender)).toBe('unreachable')
    expect(asked).toEqual([false])
  })

  test('that cannot be asked for again are no refusal', async () => {
    const { verifier, asked } = verifierOf((_, refresh) =>
      refresh ? { kind: 'unreachable' } : { kind: 'found', keys: [] },
    )
    expect(await verifier.verify(checked, sender)).toBe('unreachable')
    expect(asked).toEqual([false, true])
  })

  test('of which one was retired are asked for again, also when it was revoked since', async () => {
    const { iat } = checked.payload
    const times = [{ expiresAt: iat - 1 }, { expiresAt: iat - 1, revokedAt: iat + 1 }]
    for (const retired of times) {
      const { verifier, asked } = verifierOf((idTag, refresh) => {
        const found = keysOf(idTag)
        if (refresh || found.kind !== 'found') return found
        return { kind: 'found', keys: found.keys.map((key) => ({ ...key, ...retired })) }
      })
      expect(await verifier.verify(checked, sender)).toBe(true)
      expect(asked).toEqual([false, true])
    }
  })

  test('of an announced action’s issuer count like those of the announcer', async () => {
    const other = vectors.valid.find(({ payload }) => payload.issuerTag !== checked.issuerTag)
    const announced = checkToken({ token: textOf(other ?? { name: '' }) }, vectors.now)
    const announcing = { ...checked, announced }
    const { verifier, admitted } = verifierOf()
    expect(await verifier.verify(announcing, sender)).toBe(true)
    expect(admitted).toEqual([checked.issuerTag, announced.issuerTag])
    for (const silent of [checked.issuerTag, announced.issuerTag]) {
      const keys = (kind: 'unknown' | 'unreachable') => (idTag: string) =>
        idTag === silent ? { kind } : keysOf(idTag)
      expect(await verifierOf(keys('unreachable')).verifier.verify(announcing, sender)).toBe('unreachable')
      await expect(verifierOf(keys('unknown')).verifier.verify(announcing, sender)).rejects.toMatchObject({
        code: 'E-AUTH-UNAUTH',
      })
    }
  })
})

describe('an issuer', () => {
  test('is counted once for each token of its own', async () => {
    const { verifier, admitted } = verifierOf()
    await verifier.verify(checked, sender)
    await verifier.verify(checked, sender)
    expect(admitted).toEqual([checked.issuerTag])
  })

  test('is not counted for what others sign in its name', async () => {
    const { verifier, admitted } = verifierOf()
    const [head, payload] = token.split('.')
    const forged = `${head}.${payload}.${Buffer.alloc(96, 1).toString('base64url')}`
    await expect(verifier.verify(checkToken({ token: forged }, vectors.now), sender)).rejects.toMatchObject({
      code: 'E-AUTH-UNAUTH',
    })
    expect(admitted).toEqual([])
  })

  test('over its limit is refused again for the same token', async () => {
    const { verifier } = verifierOf(keysOf, 0)
    for (let n = 0; n < 2; n += 1)
      await expect(verifier.verify(checked, sender)).rejects.toMatchObject({ code: 'E-RATELIMIT' })
  })
})
