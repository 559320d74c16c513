import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { CommandLine } from '#harness/command-line.ts'
import { type LineBesideServer, openLineBesideServer } from '#harness/line-beside-server.ts'
import type { TestServer } from '#harness/test-server.ts'

const baseTag = 'home.localhost'

let beside: LineBesideServer
let line: CommandLine
let server: TestServer

beforeAll(async () => {
  beside = await openLineBesideServer({ env: { LOCAL_ADDRESSES: 'edge.example.net' } })
  ;({ line, server } = beside)
})
afterAll(() => beside?.[Symbol.asyncDispose]())

const tenantOf = async (idTag: string) => {
  server.running.features.identity.tenants.forget()
  return server.running.features.identity.tenants.find(idTag as never)
}

describe('a name that is not to be had', () => {
  test.each(['Banned', 'Suspended', 'Blocked'])('is given to nobody while it is %s', async (status) => {
    const idTag = `${status}.home.localhost`.toLowerCase()
    await line.json('identity', 'set', idTag, status)
    for (const type of ['person', 'community'])
      expect(await line.fails('tenant', 'create', idTag, '--type', type)).toEqual({
        exitCode: 1,
        code: 'E-STATE',
        message: `An administrator has suspended, banned or blocked ${idTag} on this server. To end that: kith identity set ${idTag} Active`,
      })
    expect(await tenantOf(idTag)).toBeUndefined()
    await line.json('identity', 'set', idTag, 'Active')
    expect((await line.json('tenant', 'create', idTag)).tenant).toMatchObject({ idTag, status: 'active' })
  })

  test('is one in a blocked domain, until the block ends', async () => {
    const idTag = 'eve.people.spam.example'
    for (const domain of ['spam.example', 'people.spam.example']) await line.json('domain', 'block', domain)
    for (const domain of ['people.spam.example', 'spam.example']) {
      expect(await line.fails('tenant', 'create', idTag)).toEqual({
        exitCode: 1,
        code: 'E-STATE',
        message: `This server blocks the domain ${domain}. To end that: kith domain unblock ${domain}`,
      })
      expect(await tenantOf(idTag)).toBeUndefined()
      await line.json('domain', 'unblock', domain)
    }
    expect((await line.json('tenant', 'create', idTag)).tenant.idTag).toBe(idTag)
  })

  test.each([
    ['www.home.localhost', 'This name is reserved. To see what is: kith settings get idp.reserved_names'],
    ['adm1n.home.localhost', 'This name is reserved. To see what is: kith settings get idp.reserved_names'],
    ['xn--80ak6aa92e.home.localhost', 'This name can be taken for another one.'],
    ['edge.example.net', 'This is a name of the server itself.'],
  ])('is %s', async (idTag, message) => {
    expect(await line.fails('tenant', 'create', idTag)).toEqual({ exitCode: 1, code: 'E-STATE', message })
    expect(await tenantOf(idTag)).toBeUndefined()
  })

  test('is one that somebody has, whatever is decided about them', async () => {
    const idTag = 'dan.home.localhost'
    await line.json('tenant', 'create', idTag)
    await line.json('identity', 'set', idTag, 'Banned')
    expect(await line.fails('tenant', 'create', idTag)).toMatchObject({ code: 'E-PROFILE-EXISTS' })
  })
})

describe('a name that only an operator gives', () => {
  test('is one that was reserved no longer', async () => {
    await line.json('settings', 'set', 'idp.reserved_names', '["admin"]')
    expect((await line.json('tenant', 'create', 'info.home.localhost')).tenant.idTag).toBe(
      'info.home.localhost',
    )
    await line.json('settings', 'reset', 'idp.reserved_names')
  })

  test('lies below that of somebody who lives here, which the command says', async () => {
    await line.json('tenant', 'create', 'alice.home.localhost')
    const warning =
      'x.y.alice.home.localhost lies below alice.home.localhost, which lives here too: people take it for one of its names.'
    const { exitCode, out } = await line.run(['tenant', 'create', 'x.y.alice.home.localhost'])
    expect(exitCode).toBe(0)
    expect(out).toContain(warning)
    expect(await line.json('tenant', 'create', `bob.${baseTag}`)).not.toHaveProperty('warnings')
    expect((await line.json('tenant', 'create', 'y.alice.home.localhost')).warnings).toEqual([
      'y.alice.home.localhost lies below alice.home.localhost, which lives here too: people take it for one of its names.',
    ])
  })

  test('is one that rests after its tenant was removed', async () => {
    const idTag = 'carl.home.localhost'
    await line.json('tenant', 'create', idTag)
    await line.json('tenant', 'suspend', idTag)
    await line.json('tenant', 'purge', idTag, '--yes')
    expect((await line.json('tenant', 'create', idTag)).tenant).toMatchObject({ idTag, status: 'active' })
  })
})
