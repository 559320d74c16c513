import { createPublicKey } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { IdTag } from '@kith/protocol'
import { describe, expect, test } from 'vitest'
import type { Tenant } from '#infra/caller/index.ts'
import { openSignatures } from '#infra/keys/index.ts'
import { endOf } from '../visits/visitor-logout.ts'
import { type FindIdentityKey, findFault, readIdentityToken } from './identity-token.ts'
import { verifyProxyToken } from './proxy-token.ts'

interface Vectors {
  readonly now: number
  readonly audience: string
  readonly issuers: readonly {
    idTag: string
    keys: readonly { kid: string; publicKey: string; expiresAt?: number }[]
  }[]
  readonly valid: readonly { name: string; token: string; claims: Record<string, unknown>; ends?: object }[]
  readonly invalid: readonly { name: string; token: string; reason: string }[]
}

function openVectors(name: string) {
  const path = new URL(`../../../../../../vectors/tokens/${name}.json`, import.meta.url)
  const vectors: Vectors = JSON.parse(readFileSync(path, 'utf8'))
  const findIdentityKey: FindIdentityKey = async (idTag, kid) => {
    const issuer = vectors.issuers.find((it) => it.idTag === idTag)
    if (!issuer) return 'unknown-issuer'
    const found = issuer.keys.find((key) => key.kid === kid)
    return found ? { ...found, key: createPublicKey(found.publicKey) } : 'key-unavailable'
  }
  const tenant = { tenantId: 1, idTag: vectors.audience as IdTag, type: 'person' } as Tenant
  return { ...vectors, deps: { signatures: openSignatures(), findIdentityKey }, tenant }
}

describe('proxy token vectors', () => {
  const { now, valid, invalid, deps, tenant } = openVectors('proxy-tokens')
  const judge = (token: string) => verifyProxyToken(deps, tenant, { token, now, asker: '203.0.113.9' })

  test.each(valid)('takes one $name', async ({ token, claims: { iss, jti, iat, exp } }) => {
    expect(await judge(token)).toMatchObject({ issuerTag: iss, jti, issuedAt: iat, expiresAt: exp })
  })

  test.each(invalid)('refuses $name', async ({ token, reason }) => {
    expect(await judge(token)).toBe(reason)
  })
})

describe('logout token vectors', () => {
  const { now, valid, invalid, deps, tenant } = openVectors('logout-tokens')

  async function judge(token: string) {
    const read = readIdentityToken('logout', tenant, { token, now })
    if (typeof read === 'string') return read
    return (await findFault(deps, read, '203.0.113.9')) ?? endOf(read.claimed) ?? 'malformed'
  }

  test.each(valid)('takes one $name', async ({ token, ends }) => {
    expect(await judge(token)).toEqual(ends)
  })

  test.each(invalid)('refuses $name', async ({ token, reason }) => {
    expect(await judge(token)).toBe(reason)
  })
})
