import { createPublicKey } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { IdTag } from '@kith/protocol'
import { describe, expect, test } from 'vitest'
import type { Tenant } from '#infra/caller/index.ts'
import { openSignatures } from '#infra/keys/index.ts'
import type { FindIdentityKey } from './identity-token.ts'
import { verifyProxyToken } from './proxy-token.ts'

interface Vectors {
  readonly now: number
  readonly audience: string
  readonly issuers: readonly {
    idTag: string
    keys: readonly { kid: string; publicKey: string; expiresAt?: number }[]
  }[]
  readonly valid: readonly { name: string; token: string; claims: Record<string, unknown> }[]
  readonly invalid: readonly { name: string; token: string }[]
}

const path = new URL('../../../../../../vectors/tokens/proxy-tokens.json', import.meta.url)
const { now, audience, issuers, valid, invalid }: Vectors = JSON.parse(readFileSync(path, 'utf8'))

const findIdentityKey: FindIdentityKey = async (idTag, kid) => {
  const found = issuers.find((it) => it.idTag === idTag)?.keys.find((key) => key.kid === kid)
  return found && { ...found, key: createPublicKey(found.publicKey) }
}
const tenant = { tenantId: 1, idTag: audience as IdTag, type: 'person' } as Tenant
const judge = (token: string) =>
  verifyProxyToken({ signatures: openSignatures(), findIdentityKey }, tenant, {
    token,
    now,
    asker: '203.0.113.9',
  })

describe('proxy token vectors', () => {
  test.each(valid)('takes one $name', async ({ token, claims: { iss, jti, iat, exp } }) => {
    expect(await judge(token)).toMatchObject({ issuerTag: iss, jti, issuedAt: iat, expiresAt: exp })
  })

  test.each(invalid)('refuses $name', async ({ token }) => {
    expect(await judge(token)).toBeUndefined()
  })
})
