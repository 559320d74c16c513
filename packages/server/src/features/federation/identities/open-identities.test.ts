import type { IdTag } from '@kith/protocol'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { eachDialect } from '#harness/each-dialect.ts'
import { newPublicKey, RemoteServers } from '#harness/remote-servers.ts'
import { TestClock } from '#harness/test-clock.ts'
import { type Database, serverTenant } from '#infra/db/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { federationMigrations } from '../federation-migrations.ts'
import { findFreshInboxes } from './identities-store.ts'
import { hasKid, type PublishedIdentity, type ResolvedIdentity } from './identity.ts'
import { type Identities, type IdentitiesDeps, openIdentities } from './open-identities.ts'

const alice = 'alice.example.com' as IdTag
const bob = 'bob.example.com' as IdTag
const host = 'https://alice.example.com'
const firstKey = newPublicKey()
const secondKey = newPublicKey()
const minuteMs = 60_000
const hourMs = 60 * minuteMs

const document = (more: Readonly<Record<string, unknown>> = {}) => ({
  idTag: alice,
  serverUrl: host,
  publicKey: firstKey,
  keys: [{ kid: 'first', publicKey: firstKey }],
  ...more,
})
const rotated = document({
  publicKey: secondKey,
  keys: [
    { kid: 'second', publicKey: secondKey },
    { kid: 'first', publicKey: firstKey, expiresAt: 1_767_225_600 },
  ],
})

function kids(resolved: ResolvedIdentity): string[] | string {
  return resolved.kind === 'found' ? resolved.identity.keys.map(({ kid }) => kid) : resolved.kind
}

eachDialect('identities', (open) => {
  let db: Database
  let clock: TestClock
  let world: RemoteServers
  let identities: Identities

  const start = (more: Partial<IdentitiesDeps> = {}) =>
    openIdentities({
      db,
      clock,
      dns: world.dns,
      egress: world.egress,
      discoveryName: 'service',
      identityHosts: new Map(),
      localhostUrl: (idTag) => `http://${idTag}:8080`,
      allowPlainHttp: false,
      findLocal: () => undefined,
      emit: async () => {},
      ...more,
    })

  beforeEach(async () => {
    db = await open({ migrations: federationMigrations })
    clock = new TestClock()
    world = new RemoteServers()
    world.publish(host, document(), '"1"')
    identities = start()
  })

  describe('an identity', () => {
    test('is found with keys that are ready for use', async () => {
      const resolved = await identities.resolve(alice)
      expect(resolved).toMatchObject({
        kind: 'found',
        identity: {
          idTag: alice,
          serverUrl: host,
          inboxUrl: `${host}/api/inbox`,
          keys: [{ kid: 'first', publicKey: firstKey }],
        },
      })
      const [key] = resolved.kind === 'found' ? resolved.identity.keys : []
      expect(key?.key.asymmetricKeyDetails).toEqual({ namedCurve: 'secp384r1' })
    })

    test('is asked for by one small request', async () => {
      await identities.resolve(alice)
      expect(world.requests).toMatchObject([
        {
          method: 'GET',
          url: `${host}/.well-known/service/id-tag?idTag=alice.example.com`,
          maxBytes: 65_536,
          headers: { accept: 'application/json' },
        },
      ])
    })

    test('of this server is never asked for', async () => {
      const local: PublishedIdentity = {
        idTag: alice,
        serverUrl: 'https://here.example',
        inboxUrl: 'https://here.example/api/inbox',
        keys: [{ kid: 'own', publicKey: secondKey }],
      }
      const here = start({ findLocal: async (idTag) => (idTag === alice ? local : undefined) })
      expect(kids(await here.resolve(alice))).toEqual(['own'])
      expect(kids(await here.resolve(alice, { refresh: true }))).toEqual(['own'])
      expect([world.dnsQuestions, world.requests]).toEqual([[], []])
    })

    test('without an id for its key is verified with that key, whatever id a token names', async () => {
      world.publish(host, document({ keys: undefined }))
      const resolved = await identities.resolve(alice)
      const [key] = resolved.kind === 'found' ? resolved.identity.keys : []
      expect(key && hasKid(key, 'anything')).toBe(true)
      expect(hasKid({ kid: 'first' }, 'anything')).toBe(false)
    })
  })

  describe('the server to ask', () => {
    const asked = async () => {
      await identities.resolve(alice)
      return world.requests.map(({ url }) => new URL(url).origin)
    }

    test('is the one that the operator lists', async () => {
      identities = start({ identityHosts: new Map([[alice, 'https://listed.example']]) })
      expect(await asked()).toEqual(['https://listed.example'])
      expect(world.dnsQuestions).toEqual([])
    })

    test('is the one in the record of the identity', async () => {
      world.setTxt('_service.alice.example.com', 'unrelated', 'v=1 server=https://own.example')
      expect(await asked()).toEqual(['https://own.example'])
      expect(world.dnsQuestions).toEqual(['_service.alice.example.com'])
    })

    test('is the one in the record of the nearest parent', async () => {
      world.setTxt('_service.example.com', 'v=1;server=https://parent.example')
      expect(await asked()).toEqual(['https://parent.example'])
      expect(world.dnsQuestions).toEqual(['_service.alice.example.com', '_service.example.com'])
    })

    test('is the host of that name when there is no record', async () => {
      expect(await asked()).toEqual([host])
      expect(world.dnsQuestions).toEqual(['_service.alice.example.com', '_service.example.com'])
    })

    test('is found under another discovery name', async () => {
      identities = start({ discoveryName: 'kith' })
      world.setTxt('_kith.alice.example.com', 'v=1 server=https://own.example')
      await identities.resolve(alice)
      expect(world.requests.map(({ url }) => url)).toEqual([
        'https://own.example/.well-known/kith/id-tag?idTag=alice.example.com',
        'https://own.example/.well-known/service/id-tag?idTag=alice.example.com',
      ])
    })

    test('may be below a path', async () => {
      world.setTxt('_service.alice.example.com', 'v=1 server=https://own.example/kith/')
      await identities.resolve(alice)
      expect(world.requests[0]?.url).toMatch(/^https:\/\/own\.example\/kith\/\.well-known\//)
    })

    test('of a .localhost name is on this machine, and DNS is not asked', async () => {
      const home = 'carol.localhost' as IdTag
      const serverUrl = 'http://carol.localhost:8080'
      world.publish(serverUrl, { ...document(), idTag: home, serverUrl })
      identities = start({ allowPlainHttp: true })
      expect(await identities.resolve(home)).toMatchObject({ kind: 'found', identity: { serverUrl } })
      expect(world.dnsQuestions).toEqual([])
    })

    test('is not guessed while DNS does not answer', async () => {
      world.breakDns('_service.alice.example.com')
      expect(await identities.resolve(alice)).toEqual({ kind: 'unreachable' })
      expect(world.requests).toEqual([])
    })

    test('is none when two are named', async () => {
      world.setTxt(
        '_service.alice.example.com',
        'v=1 server=https://a.example',
        'v=1 server=https://b.example',
      )
      expect(await identities.resolve(alice)).toMatchObject({ kind: 'unknown' })
      expect(world.requests).toEqual([])
    })

    test('with plain http is ignored outside a laboratory', async () => {
      world.setTxt('_service.alice.example.com', 'v=1 server=http://own.example')
      expect(await asked()).toEqual([host])
    })
  })

  describe('an answer', () => {
    const json = { 'content-type': 'application/json' }
    const body = JSON.stringify({ data: document() })

    test.each([
      ['network error', 'connect'],
      ['refused handshake', 'tls'],
      ['timeout', 'timeout'],
      ['DNS failure', 'dns'],
      ['429', { status: 429 }],
      ['500', { status: 500, headers: json, body }],
      ['503', { status: 503 }],
    ] as const)('that is missing (%s) leaves it open', async (_, behaviour) => {
      world.set(host, behaviour, alice)
      expect(await identities.resolve(alice)).toEqual({ kind: 'unreachable' })
    })

    test.each([
      ['404', { status: 404, headers: json, body: '{"error":{}}' }],
      ['410', { status: 410 }],
      ['401', { status: 401 }],
      ['304 that was not asked for', { status: 304 }],
      ['a page', { status: 200, headers: { 'content-type': 'text/html' }, body: '<html>' }],
      ['no JSON', { status: 200, headers: json, body: '{' }],
      ['another identity', { status: 200, headers: json, body: body.replace('alice.', 'mallory.') }],
      ['too large', 'too-large'],
      ['an endless redirect', 'redirect'],
      ['a private address', 'refused'],
      ['no such host', 'unknown-host'],
    ] as const)('that is no identity (%s) settles it', async (_, behaviour) => {
      world.set(host, behaviour, alice)
      expect(await identities.resolve(alice)).toMatchObject({ kind: 'unknown' })
    })

    test('that is no UTF-8 is no identity', async () => {
      const request = world.egress.request
      identities = start({
        egress: {
          request: async (asked) => {
            const answer = await request(asked)
            return { ...answer, body: Buffer.concat([answer.body, Buffer.from([0xff])]) }
          },
        },
      })
      expect(await identities.resolve(alice)).toMatchObject({ kind: 'unknown' })
    })

    test('is believed only about the identity that was asked for', async () => {
      world.setTxt('_service.bob.example.com', `v=1 server=${host}`)
      const lying = JSON.stringify({ data: { ...document(), idTag: alice } })
      world.set(host, { status: 200, headers: json, body: lying }, bob)
      expect(await identities.resolve(bob)).toMatchObject({ kind: 'unknown' })
    })

    test('is a bug when it is none of these', async () => {
      identities = start({ egress: { request: () => Promise.reject(new TypeError('bad header')) } })
      await expect(identities.resolve(alice)).rejects.toThrow('bad header')
      await expect(identities.resolve(alice)).rejects.toThrow('bad header')
    })
  })

  describe('the cache', () => {
    test('keeps an identity for a day, also in the database', async () => {
      await identities.resolve(alice)
      clock.advance(23 * hourMs)
      expect(kids(await identities.resolve(alice))).toEqual(['first'])
      expect(kids(await start().resolve(alice))).toEqual(['first'])
      expect(world.requests.length).toBe(1)
    })

    test('asks again after a day, for changes only, and keeps the answer', async () => {
      await identities.resolve(alice)
      clock.advance(25 * hourMs)
      expect(kids(await identities.resolve(alice))).toEqual(['first'])
      expect(world.requests[1]?.headers).toMatchObject({ 'if-none-match': '"1"' })
      clock.advance(23 * hourMs)
      expect(kids(await start().resolve(alice))).toEqual(['first'])
      expect(world.requests.length).toBe(2)
      world.publish(host, rotated, '"2"')
      clock.advance(2 * hourMs)
      expect(kids(await identities.resolve(alice))).toEqual(['second', 'first'])
    })

    test('does not send a new server the ETag of the old one', async () => {
      await identities.resolve(alice)
      world.setTxt('_service.alice.example.com', 'v=1 server=https://new.example')
      world.publish('https://new.example', rotated)
      clock.advance(25 * hourMs)
      expect(kids(await identities.resolve(alice))).toEqual(['second', 'first'])
      expect(world.requests[1]?.headers).not.toHaveProperty('if-none-match')
    })

    test('remembers for five minutes that there is no such identity', async () => {
      world.set(host, { status: 404 }, alice)
      await identities.resolve(alice)
      world.publish(host, document())
      clock.advance(4 * minuteMs)
      expect(await identities.resolve(alice)).toMatchObject({ kind: 'unknown' })
      clock.advance(2 * minuteMs)
      expect(kids(await identities.resolve(alice))).toEqual(['first'])
    })

    test('does not ask a server that did not answer for half a minute, or for as long as it asks', async () => {
      world.setTxt('_service.bob.example.com', `v=1 server=${host}`)
      world.set(host, 'connect', alice)
      await identities.resolve(alice)
      expect(await identities.resolve(alice)).toEqual({ kind: 'unreachable' })
      expect(await identities.resolve(bob)).toEqual({ kind: 'unreachable' })
      expect(world.requests.length).toBe(1)
      clock.advance(31_000)
      world.set(host, { status: 503, headers: { 'retry-after': '120' } }, alice)
      await identities.resolve(alice)
      clock.advance(119_000)
      expect(await identities.resolve(alice)).toEqual({ kind: 'unreachable' })
      expect(world.requests.length).toBe(2)
      clock.advance(31_000)
      world.publish(host, document())
      expect(kids(await identities.resolve(alice))).toEqual(['first'])
    })

    test('serves an expired identity for up to a week while its server is away', async () => {
      await identities.resolve(alice)
      world.set(host, 'connect', alice)
      clock.advance(7 * 24 * hourMs)
      expect(kids(await identities.resolve(alice))).toEqual(['first'])
      expect(kids(await start().resolve(alice))).toEqual(['first'])
      const asked = world.requests.length
      expect(kids(await identities.resolve(alice))).toEqual(['first'])
      expect(world.requests.length).toBe(asked)
      clock.advance(25 * hourMs)
      expect(await identities.resolve(alice)).toEqual({ kind: 'unreachable' })
    })

    test('accepts an identity again when its server is back', async () => {
      await identities.resolve(alice)
      world.set(host, 'timeout', alice)
      clock.advance(25 * hourMs)
      await identities.resolve(alice)
      world.publish(host, rotated)
      clock.advance(6 * minuteMs)
      expect(kids(await identities.resolve(alice))).toEqual(['second', 'first'])
    })

    test('forgets an identity whose server no longer has it', async () => {
      await identities.resolve(alice)
      world.set(host, { status: 404 }, alice)
      clock.advance(25 * hourMs)
      expect(await identities.resolve(alice)).toMatchObject({ kind: 'unknown' })
      world.set(host, 'connect', alice)
      clock.advance(6 * minuteMs)
      expect(await identities.resolve(alice)).toEqual({ kind: 'unreachable' })
      expect(await start().resolve(alice)).toEqual({ kind: 'unreachable' })
    })

    test('keeps a known identity whose name is gone from DNS', async () => {
      await identities.resolve(alice)
      world.set(host, 'unknown-host', alice)
      clock.advance(25 * hourMs)
      expect(kids(await identities.resolve(alice))).toEqual(['first'])
    })

    test('asks once for many callers at a time', async () => {
      const read = vi.spyOn(db, 'reader')
      const all = await Promise.all(Array.from({ length: 50 }, () => identities.resolve(alice)))
      expect(new Set(all.map((resolved) => String(kids(resolved))))).toEqual(new Set(['first']))
      expect(world.requests.length).toBe(1)
      expect(read).toHaveBeenCalledTimes(1)
    })
  })

  describe('a refresh', () => {
    const refresh = () => identities.resolve(alice, { refresh: true })

    test('brings new keys before their time', async () => {
      await identities.resolve(alice)
      world.publish(host, rotated, '"2"')
      expect(kids(await identities.resolve(alice))).toEqual(['first'])
      expect(kids(await refresh())).toEqual(['second', 'first'])
      expect(kids(await identities.resolve(alice))).toEqual(['second', 'first'])
      expect(kids(await start().resolve(alice))).toEqual(['second', 'first'])
    })

    test('bypasses caches on the way', async () => {
      await refresh()
      expect(world.requests[0]?.headers).toMatchObject({ 'cache-control': 'no-cache' })
    })

    test('asks once in five minutes, trusts the answer for ten seconds, then has none', async () => {
      await identities.resolve(alice)
      await refresh()
      world.publish(host, rotated, '"2"')
      clock.advance(9_000)
      expect(kids(await refresh())).toEqual(['first'])
      clock.advance(2_000)
      expect(await refresh()).toEqual({ kind: 'unreachable' })
      expect(kids(await identities.resolve(alice))).toEqual(['first'])
      clock.advance(4 * minuteMs)
      expect(await refresh()).toEqual({ kind: 'unreachable' })
      expect(world.requests.length).toBe(2)
      clock.advance(minuteMs)
      expect(kids(await refresh())).toEqual(['second', 'first'])
    })

    test('is shared by all who ask for it at a time', async () => {
      await identities.resolve(alice)
      world.publish(host, rotated, '"2"')
      const all = await Promise.all(Array.from({ length: 20 }, refresh))
      expect(new Set(all.map((resolved) => String(kids(resolved))))).toEqual(new Set(['second,first']))
      expect(world.requests.length).toBe(2)
    })

    test('without an answer says so, and leaves the identity as it was', async () => {
      await identities.resolve(alice)
      world.set(host, 'connect', alice)
      expect(await refresh()).toEqual({ kind: 'unreachable' })
      expect(await refresh()).toEqual({ kind: 'unreachable' })
      expect(kids(await identities.resolve(alice))).toEqual(['first'])
      expect(kids(await start().resolve(alice))).toEqual(['first'])
    })
  })

  describe('strangers who name victims', () => {
    const made = (at: number) => `x${at}.example.com` as IdTag

    test('make this server send one host no more than two requests at a time', async () => {
      let together = 0
      let most = 0
      const answered: (() => void)[] = []
      world.setTxt('_service.example.com', `v=1 server=${host}`)
      world.set(host, async () => {
        together += 1
        most = Math.max(most, together)
        await new Promise<void>((resolve) => answered.push(resolve))
        together -= 1
        return { status: 404 }
      })
      const all = Promise.all(Array.from({ length: 10 }, (_, at) => identities.resolve(made(at))))
      const turn = () => new Promise((resolve) => setImmediate(resolve))
      for (let done = 0; done < 10; done += 2) {
        while (answered.length < 2) await turn()
        // A third request would have arrived by now.
        for (let turns = 0; turns < 20; turns += 1) await turn()
        for (const answer of answered.splice(0)) answer()
      }
      expect((await all).every(({ kind }) => kind === 'unknown')).toBe(true)
      expect(most).toBe(2)
    })

    test('are refused when too many wait for one domain', async () => {
      const endless = start({ dns: { resolveTxt: () => new Promise(() => {}) } })
      // Eight of one sender run and 64 wait, so the first to be answered is the one too many.
      const asker = { cause: 'inbox', key: '192.0.2.1' } as const
      const all = Array.from({ length: 73 }, (_, at) => endless.resolve(made(at), { asker }))
      expect(await Promise.race(all)).toEqual({ kind: 'unreachable' })
    })

    const guest = { asker: { cause: 'guest', key: '192.0.2.1' } } as const
    const others = [
      { asker: { cause: 'guest', key: '192.0.2.2' } },
      { asker: { cause: 'inbox', key: '192.0.2.1' } },
      { asker: { cause: 'owner', key: 'dave.example.net' } },
    ] as const

    test('exhaust nothing but their own share of a domain', async () => {
      for (let at = 0; at < 60; at += 1) await identities.resolve(made(at), guest)
      // Neither the failures nor this refusal affect the same name for others.
      expect(await identities.resolve(alice, guest)).toEqual({ kind: 'unreachable' })
      expect(kids(await identities.resolve(alice, others[1]))).toEqual(['first'])
      for (const [at, other] of others.entries()) {
        expect(await identities.resolve(made(60 + at), guest)).toEqual({ kind: 'unreachable' })
        expect(await identities.resolve(made(60 + at), other)).toEqual({ kind: 'unknown', isGone: true })
      }
    })

    test('take no slot from other causes or other askers', async () => {
      const asked: string[] = []
      const endless = start({
        dns: {
          resolveTxt: (name) => {
            asked.push(name)
            return new Promise(() => {})
          },
        },
      })
      for (let at = 0; at < 300; at += 1) void endless.resolve(`x${at}.example` as IdTag, guest)
      for (const [at, other] of others.entries()) void endless.resolve(`honest${at}.example` as IdTag, other)
      await expect.poll(() => asked.filter((name) => name.includes('honest'))).toHaveLength(3)
      expect(asked.filter((name) => name.includes('.x'))).toHaveLength(2)
    })

    test('cannot make a server unreachable by naming a slow path on it', async () => {
      world.setTxt('_service.mallory.example', `v=1 server=${host}/slow`)
      world.set(host, 'timeout', 'mallory.example')
      expect(await identities.resolve('mallory.example' as IdTag)).toEqual({ kind: 'unreachable' })
      expect(kids(await identities.resolve(alice))).toEqual(['first'])
    })

    test('exhaust the failure budget of one domain, and not that of another', async () => {
      for (let at = 0; at < 100; at += 1) await identities.resolve(made(at))
      const asked = world.requests.length
      expect(asked).toBe(60)
      expect(await identities.resolve(made(100))).toEqual({ kind: 'unreachable' })
      expect(await identities.resolve('dave.other.example' as IdTag)).toMatchObject({ kind: 'unknown' })
      clock.advance(31_000)
      expect(await identities.resolve(made(101))).toMatchObject({ kind: 'unknown' })
      expect(world.requests.length).toBe(asked + 2)
    })
  })

  describe('inboxes', () => {
    const shared = 'https://shared.example'
    const pointAt = (inboxUrl: string) =>
      world.publish('https://bob.example.com', { ...document(), idTag: bob, serverUrl: bobsHost, inboxUrl })
    const vouch = (inboxUrl: string) =>
      world.publish(shared, { ...document(), idTag: bob, serverUrl: bobsHost, inboxUrl })
    const bobsHost = 'https://bob.example.com'
    const inboxOf = (resolved: ResolvedIdentity) =>
      resolved.kind === 'found' && {
        inboxUrl: resolved.identity.inboxUrl,
        isUnsure: resolved.identity.isInboxUnsure ?? false,
      }

    test('on another host count when that host names them for the identity as well', async () => {
      pointAt(`${shared}/in`)
      vouch(`${shared}/in`)
      expect(inboxOf(await identities.resolve(bob))).toEqual({ inboxUrl: `${shared}/in`, isUnsure: false })
      expect(world.requests.map(({ url }) => url)).toEqual([
        `${bobsHost}/.well-known/service/id-tag?idTag=${bob}`,
        `${shared}/.well-known/service/id-tag?idTag=${bob}`,
      ])
    })

    test.each<[string, () => void]>([
      ['knows nobody of that name', () => world.set(shared, { status: 404 })],
      ['names another inbox', () => vouch(`${shared}/other`)],
      ['is no server of identities', () => world.set(shared, { status: 200, body: '<p>' })],
    ])('on another host do not count when that host %s', async (_, behave) => {
      pointAt(`${shared}/in`)
      behave()
      const fallback = { inboxUrl: `${bobsHost}/api/inbox`, isUnsure: false }
      expect(inboxOf(await identities.resolve(bob))).toEqual(fallback)
      expect([...(await findFreshInboxes(db.reader(serverTenant), [bob], nowSecs(clock)))]).toEqual([
        [bob, fallback.inboxUrl],
      ])
    })

    test('cannot be at a third server by naming that as the server of the identity', async () => {
      world.publish(bobsHost, { ...document(), idTag: bob, serverUrl: shared, inboxUrl: `${shared}/slow` })
      world.set(shared, { status: 404 })
      expect(inboxOf(await identities.resolve(bob))).toEqual({
        inboxUrl: `${bobsHost}/api/inbox`,
        isUnsure: false,
      })
    })

    test('on another host wait until that host answers, and its last confirmation holds while it is away', async () => {
      pointAt(`${shared}/in`)
      world.set(shared, 'connect')
      expect(inboxOf(await identities.resolve(bob))).toMatchObject({ isUnsure: true })
      expect([...(await findFreshInboxes(db.reader(serverTenant), [bob], nowSecs(clock)))]).toEqual([])
      clock.advance(5 * minuteMs)
      vouch(`${shared}/in`)
      const sure = { inboxUrl: `${shared}/in`, isUnsure: false }
      expect(inboxOf(await identities.resolve(bob))).toEqual(sure)
      clock.advance(24 * hourMs)
      world.set(shared, 'connect', bob)
      expect(inboxOf(await identities.resolve(bob))).toEqual(sure)
      world.set(shared, { status: 404 }, bob)
      clock.advance(24 * hourMs)
      expect(inboxOf(await identities.resolve(bob))).toMatchObject({ inboxUrl: `${bobsHost}/api/inbox` })
    })

    test('are those of known identities that have not expired', async () => {
      world.publish('https://bob.example.com', {
        ...document(),
        idTag: bob,
        inboxUrl: 'https://shared.example/in',
      })
      vouch('https://shared.example/in')
      await identities.resolve(alice)
      clock.advance(hourMs)
      await identities.resolve(bob)
      const inboxes = () =>
        db.transact(serverTenant, (tx) =>
          findFreshInboxes(tx, [alice, bob, 'nobody.example.com' as IdTag], nowSecs(clock)),
        )
      expect([...(await inboxes())].sort()).toEqual([
        [alice, `${host}/api/inbox`],
        [bob, 'https://shared.example/in'],
      ])
      clock.advance(23.5 * hourMs)
      expect([...(await inboxes())]).toEqual([[bob, 'https://shared.example/in']])
    })

    test('are found for more identities than one statement takes', async () => {
      await identities.resolve(alice)
      const many = Array.from({ length: 2500 }, (_, at) => `u${at}.example.com` as IdTag)
      const found = await findFreshInboxes(db.reader(serverTenant), [...many, alice], nowSecs(clock))
      expect([...found.keys()]).toEqual([alice])
    })
  })

  test('a sweep removes what is too old to be served', async () => {
    await identities.resolve(alice)
    clock.advance(7 * 24 * hourMs)
    expect(await identities.sweep()).toBe(0)
    clock.advance(25 * hourMs)
    expect(await identities.sweep()).toBe(1)
    expect(await identities.sweep()).toBe(0)
  })

  describe('under a discovery name of their own', () => {
    const asked = () => world.requests.map(({ url }) => url.split('?')[0])

    test('are asked for by that name first, and then by the common one', async () => {
      identities = start({ discoveryName: 'kith' })
      world.setTxt(`_service.${alice}`, 'v=1 server=https://elsewhere.example')
      world.set('https://elsewhere.example', async () => {
        const isCommon = world.requests.at(-1)?.url.includes('/.well-known/service/')
        const headers = { 'content-type': 'application/json' }
        return { status: isCommon ? 200 : 404, headers, body: JSON.stringify({ data: document() }) }
      })
      expect(kids(await identities.resolve(alice))).toEqual(['first'])
      expect(world.dnsQuestions.slice(0, 2)).toEqual([`_kith.${alice}`, `_service.${alice}`])
      expect(asked()).toEqual([
        'https://elsewhere.example/.well-known/kith/id-tag',
        'https://elsewhere.example/.well-known/service/id-tag',
        // It names an inbox on a host that must confirm it.
        `${host}/.well-known/kith/id-tag`,
      ])
    })

    test('are asked for once where that name is known', async () => {
      identities = start({ discoveryName: 'kith' })
      world.publish(host, document())
      await identities.resolve(alice)
      expect(asked()).toEqual([`${host}/.well-known/kith/id-tag`])
    })
  })
})
