import { createIdentityKey, deleteIdentityKey, getManagedIdentity } from '@kith/protocol'
import { expect, test } from 'vitest'
import { NameProvider } from '#harness/name-provider.ts'
import { setAddress } from './change-identity.ts'
import { authenticateKey } from './identity-keys.ts'

test('a key that ends while it moves its identity moves nothing', async () => {
  await using names = await NameProvider.start()
  const idTag = `one.${names.idTag}`
  await names.registerActive('one', { ownerIdTag: 'carol.localhost' })
  const carol = await names.visit('carol.localhost')
  const { data } = await carol.call(createIdentityKey, { body: { idTag } })
  const { running } = names.server
  const tenant = await running.features.identity.tenants.find(names.idTag as never)
  if (!tenant) throw new Error('there is no provider')
  const { db, clock } = running.services
  const caller = await authenticateKey({ db, clock }, { tenant, bearer: data.plaintextKey })
  await carol.call(deleteIdentityKey, { params: { id: String(data.apiKey.id) }, query: {} })
  const request = { tenant, caller, id: idTag, ip: '198.51.100.9', isAutomatic: true } as const
  await expect(setAddress({ db, clock, emit: async () => undefined }, request)).rejects.toMatchObject({
    code: 'E-AUTH-UNAUTH',
  })
  expect((await carol.call(getManagedIdentity, { params: { id: idTag } })).data.address).toBeUndefined()
})
