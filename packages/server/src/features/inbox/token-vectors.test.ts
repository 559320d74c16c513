import { createPublicKey, verify } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { Failure } from '#lib/failure.ts'
import { checkToken } from './check-token.ts'
import { type IssuerKeys, openTokenVerifier } from './verify-token.ts'

interface Vectors {
  readonly now: number
  readonly issuerTag: string
  readonly keys: readonly { kid: string; publicKey: string }[]
  readonly valid: readonly { name: string; token: string; payload: Record<string, unknown> }[]
  readonly invalid: readonly { name: string; token: string; error: string }[]
}

const path = new URL('../../../../../vectors/tokens/action-tokens.json', import.meta.url)
const vectors: Vectors = JSON.parse(readFileSync(path, 'utf8'))

function verifierOf(keys: IssuerKeys['kind'] | readonly { expiresAt?: number }[] = [{}], mostTokens = 100) {
  const asked: boolean[] = []
  const admitted: string[] = []
  const verifier = openTokenVerifier({
    findKeys: async (_, { refresh }) => {
      asked.push(refresh)
      if (typeof keys === 'string') return { kind: keys, keys: [] } as IssuerKeys
      const found = vectors.keys.map(({ kid, publicKey }, at) => ({
        kid,
        key: createPublicKey(publicKey),
        ...keys[at],
      }))
      return { kind: 'found', keys: found }
    },
    admitIssuer: async (issuerTag) => {
      if (admitted.push(issuerTag) > mostTokens) throw new Failure('E-RATELIMIT')
    },
    verifySignature: async (signingInput, signature, key) =>
      verify('sha384', Buffer.from(signingInput), { key, dsaEncoding: 'ieee-p1363' }, signature),
  })
  return { verifier, asked, admitted }
}

async function judge(token: string) {
  const checked = checkToken(token, vectors.now)
  await verifierOf().verifier.verify(checked)
  return checked
}

describe('action token vectors', () => {
  test.each(vectors.valid)('takes $name', async ({ token, payload }) => {
    const checked = await judge(token)
    expect(checked.issuerTag).toBe(vectors.issuerTag)
    expect(checked.payload).toMatchObject(payload)
  })

  test.each(vectors.invalid)('refuses $name', async ({ token, error }) => {
    await expect(judge(token)).rejects.toMatchObject({ code: error })
  })
})

const [{ token }] = vectors.valid as [Vectors['valid'][number]]
const checked = checkToken(token, vectors.now)

describe('the issuer’s keys', () => {
  test('are asked for once per token: a redelivered one is known', async () => {
    const { verifier, asked } = verifierOf()
    await verifier.verify(checked)
    await verifier.verify(checked)
    expect(asked).toEqual([false])
  })

  test('are asked for again when the kid is not among them', async () => {
    const unknown = vectors.invalid.find(({ name }) => name === 'unknown kid')
    const { verifier, asked } = verifierOf()
    await expect(verifier.verify(checkToken(unknown?.token ?? '', vectors.now))).rejects.toMatchObject({
      code: 'E-AUTH-UNAUTH',
    })
    expect(asked).toEqual([false, true])
  })

  test('verify what was signed before they were retired, and nothing after', async () => {
    expect(await verifierOf([{ expiresAt: vectors.now }]).verifier.verify(checked)).toBe(true)
    await expect(verifierOf([{ expiresAt: vectors.now - 1 }]).verifier.verify(checked)).rejects.toMatchObject(
      {
        code: 'E-AUTH-UNAUTH',
      },
    )
  })

  test('of an unknown issuer are a refusal, those of an unreachable one are not', async () => {
    await expect(verifierOf('unknown').verifier.verify(checked)).rejects.toMatchObject({
      code: 'E-AUTH-UNAUTH',
    })
    expect(await verifierOf('unreachable').verifier.verify(checked)).toBe('unreachable')
  })
})

describe('an issuer', () => {
  test('is counted once for each token of its own', async () => {
    const { verifier, admitted } = verifierOf()
    await verifier.verify(checked)
    await verifier.verify(checked)
    expect(admitted).toEqual([vectors.issuerTag])
  })

  test('is not counted for what others sign in its name', async () => {
    const { verifier, admitted } = verifierOf()
    const [head, payload] = token.split('.')
    const forged = `${head}.${payload}.${Buffer.alloc(96, 1).toString('base64url')}`
    await expect(verifier.verify(checkToken(forged, vectors.now))).rejects.toMatchObject({
      code: 'E-AUTH-UNAUTH',
    })
    expect(admitted).toEqual([])
  })

  test('with too many is refused again when the same token comes again', async () => {
    const { verifier } = verifierOf([{}], 0)
    for (let n = 0; n < 2; n += 1)
      await expect(verifier.verify(checked)).rejects.toMatchObject({ code: 'E-RATELIMIT' })
  })
})
