import type { IdTag } from '@kith/protocol'
import { createAction, updateAdminProfile } from '@kith/protocol'
import { expect, test } from 'vitest'
import { TestServer } from '#harness/test-server.ts'

const bobTag = 'bob.localhost' as IdTag

/** Alice with Bob, who visits her: what the server takes him for, as of now. */
async function startVisit(baseIdTag = 'home.localhost') {
  const server = await TestServer.start({ baseIdTag })
  const { identity } = server.running.features
  const alice =
    (await identity.tenants.find(baseIdTag as IdTag)) ?? (await server.createTenant('alice.localhost'))
  const bob = await server.createTenant(bobTag)
  const bearer = await identity.proxyToken(bob, alice.idTag)
  return {
    server,
    alice,
    async visitor() {
      const { caller } = await identity.authenticator.authenticate({ tenant: alice, bearer, ip: '192.0.2.1' })
      return caller.kind === 'identity' ? { role: caller.role, isAdmin: caller.isAdmin } : caller.kind
    },
  }
}

test('a person’s new follower has the role at once, and loses it at once', async () => {
  const { server, alice, visitor } = await startVisit()
  await using _ = server
  expect(await visitor()).toEqual({ role: 'public', isAdmin: false })
  const bob = await server.as(bobTag)
  await bob.call(createAction, { body: { type: 'FLLW', audienceTag: alice.idTag } })
  await server.settle()
  expect(await visitor()).toEqual({ role: 'follower', isAdmin: false })
  server.clock.advance(1000)
  await bob.call(createAction, { body: { type: 'FLLW', subType: 'DEL', audienceTag: alice.idTag } })
  await server.settle()
  expect(await visitor()).toEqual({ role: 'public', isAdmin: false })
})

test('whom the server suspends is nobody at once, and whom it appoints administers at once', async () => {
  const { server, visitor } = await startVisit()
  await using _ = server
  expect(await visitor()).toEqual({ role: 'public', isAdmin: false })
  const owner = await server.as('home.localhost')
  const change = (body: object) => owner.call(updateAdminProfile, { params: { idTag: bobTag }, body })
  await change({ roles: ['SADM'] })
  expect(await visitor()).toEqual({ role: 'public', isAdmin: true })
  await change({ status: 'Suspended' })
  await expect(visitor()).rejects.toMatchObject({ code: 'E-AUTH-UNAUTH' })
})
