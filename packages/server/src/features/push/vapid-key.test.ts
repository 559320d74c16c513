import { createPublicKey, createSecretKey, randomBytes } from 'node:crypto'
import { getVapidKey as getVapidKeyContract, type IdTag } from '@kith/protocol'
import { expect, test } from 'vitest'
import { identity } from '#harness/action-lab.ts'
import { callEndpoint } from '#harness/call-endpoint.ts'
import { eachDialect } from '#harness/each-dialect.ts'
import { TestClock } from '#harness/test-clock.ts'
import type { Tenant } from '#infra/caller/index.ts'
import type { TenantId } from '#infra/db/index.ts'
import { openVault } from '#infra/keys/index.ts'
import { silentLogger } from '#infra/telemetry/index.ts'
import { pushEndpoints, pushMigrations } from './index.ts'

eachDialect('the key for push services', (open) => {
  async function start() {
    const clock = new TestClock()
    const db = await open({ migrations: pushMigrations, clock })
    const vault = openVault({ masterKey: createSecretKey(randomBytes(32)) })
    const egress = { assertReachable: async () => undefined }
    const endpoints = pushEndpoints({ db, vault, clock, egress, logger: silentLogger })
    const ask = async (tenantId: number) => {
      const idTag = 'alice.example.com' as IdTag
      const tenant = { tenantId: tenantId as TenantId, idTag, type: 'person' } as Tenant
      const answer = await callEndpoint(endpoints, getVapidKeyContract, { tenant, caller: identity(idTag) })
      return answer as unknown as { publicKey: string; vapidPublicKey: string }
    }
    return { db, ask }
  }

  test('is a point on P-256, under both names, and stays', async () => {
    const { ask } = await start()
    const first = await ask(1)
    const point = Buffer.from(first.publicKey, 'base64url')
    expect([point.length, point[0]]).toEqual([65, 4])
    const [x, y] = [point.subarray(1, 33), point.subarray(33)].map((half) => half.toString('base64url'))
    const key = { kty: 'EC', crv: 'P-256', x: x ?? '', y: y ?? '' }
    expect(createPublicKey({ key, format: 'jwk' }).asymmetricKeyDetails).toMatchObject({
      namedCurve: 'prime256v1',
    })
    expect(first.vapidPublicKey).toBe(first.publicKey)
    expect(await ask(1)).toEqual(first)
  })

  test('is another one for each tenant', async () => {
    const { ask } = await start()
    expect((await ask(1)).publicKey).not.toBe((await ask(2)).publicKey)
  })

  test('is one for all who ask for the first time at the same time', async () => {
    const { ask } = await start()
    const keys = await Promise.all(Array.from({ length: 8 }, () => ask(1)))
    expect(new Set(keys.map(({ publicKey }) => publicKey)).size).toBe(1)
  })
})
