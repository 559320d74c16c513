import { expect, test } from 'vitest'
import { createCertificate } from '#harness/certificates.ts'
import { type CertificatesLab, certificatesLab, certifiedName as name } from '#harness/certificates-lab.ts'
import { eachDialect, onSqlite } from '#harness/each-dialect.ts'
import { type FakeAuthority, foreignChain, problem } from '#harness/fake-authority.ts'
import { serverTenant } from '#infra/db/index.ts'
import { EgressError } from '#infra/egress/index.ts'
import { listJobs } from '#infra/jobs/index.ts'
import { findState, findStored, listDue, setDue, summarize } from './certificate-store.ts'
import { listChallenges } from './challenge-store.ts'
import { forgetNames } from './forget-names.ts'
import { insertNames } from './name-store.ts'
import { setFailed, setNextAttempt } from './order-store.ts'
import { renewCertificate } from './renew-certificate.ts'

const day = 86_400_000

/** Answers orders for these names, and for names below them, with a rate limit of two days. */
function limiting(...limited: readonly string[]): FakeAuthority['answer'] {
  const isLimited = (payload: unknown) => limited.some((one) => JSON.stringify(payload).includes(one))
  return (path, payload) =>
    path === '/new-order' && isLimited(payload)
      ? problem('rateLimited', 'too many certificates', { 'retry-after': String(2 * 86_400) })
      : undefined
}

/** Has a certificate below example.org renewed by hand. */
function renewed({ db, clock, first }: CertificatesLab, one = name) {
  return db.transact(serverTenant, (tx) =>
    renewCertificate({ clock, jobs: first.jobs }, tx, { name: one, zone: 'example.org' }),
  )
}

eachDialect('certificates', (open) => {
  const { lab, pass, begun } = certificatesLab(open)

  test('are got once, and their keys kept sealed', async () => {
    const made = await begun()
    await pass(made, 30_000)
    expect(await made.state()).toMatchObject({ failures: 0, fault: undefined, orderUrl: undefined })
    const served = await made.first.certification.read(name)
    expect(served?.cert).toContain('BEGIN CERTIFICATE')
    expect(served?.key).toContain('PRIVATE KEY')
    const stored = await findStored(made.reader, name)
    expect(Buffer.from(stored?.sealedKey ?? []).toString('latin1')).not.toContain('PRIVATE')
    await pass(made, 2 * day)
    expect([made.authority.orders.length, made.authority.accounts]).toEqual([1, 1])
    expect(await summarize(made.reader)).toMatchObject({ names: 1, missing: 0, failing: 0 })
    expect(await made.first.certification.read('bob.example.org')).toBeUndefined()
  })

  test('answer only for tokens of orders under way, from any process', async () => {
    const made = await begun()
    const [open] = await listChallenges(made.reader, 10)
    const other = await made.addProcess('other')
    await other.jobs.stop()
    const answered = await other.certification.answer(open?.token ?? '')
    expect(answered).toBe(open?.keyAuthorization)
    expect(answered?.startsWith(`${open?.token}.`)).toBe(true)
    expect(await other.certification.answer('token-of-order-number-7')).toBeUndefined()
    await pass(made, 30_000)
    expect(await listChallenges(made.reader, 10)).toEqual([])
    expect(await other.certification.answer(open?.token ?? '')).toBeUndefined()
  })

  test('are gone on with by another process when the first one dies in the middle', async () => {
    const made = await lab()
    await made.look()
    await made.first.jobs.settle()
    const before = await made.state()
    expect(before?.orderUrl).toBeDefined()
    made.first.crash()
    const other = await made.addProcess('other')
    await pass({ clock: made.clock, first: other }, 5 * 60_000, 30)
    expect(await made.state()).toMatchObject({ failures: 0, orderUrl: undefined })
    expect((await made.state())?.notAfter).toBeDefined()
    expect(made.authority.orders).toHaveLength(1)
  })

  test('wait as long as a rate limit says, and those of the same domain with them', async () => {
    const names = [name, 'bob.example.org', 'carol.example.net']
    const made = await lab(names)
    made.authority.answer = limiting('example.org')
    await made.look()
    await pass(made, 60_000)
    expect(await made.state('bob.example.org')).toMatchObject({ fault: { kind: 'rateLimited' } })
    const asked = () => made.authority.asked.filter((one) => one === 'POST /new-order').length
    const before = asked()
    expect(before).toBeLessThanOrEqual(3)
    expect(await made.state()).toMatchObject({
      fault: { kind: 'rateLimited', detail: 'too many certificates' },
    })
    expect((await made.state('carol.example.net'))?.notAfter).toBeDefined()
    await pass(made, 1.9 * day, 30)
    expect(asked()).toBe(before)
    expect((await renewed(made)).heldUntil).toBeDefined()
    made.authority.answer = () => undefined
    await pass(made, 0.3 * day, 30)
    expect((await made.state())?.notAfter).toBeDefined()
    expect((await made.state('bob.example.org'))?.notAfter).toBeDefined()
  })

  test('of a name that is new below a limited domain wait with the others, and do not make them wait longer', async () => {
    const made = await lab()
    made.authority.answer = limiting('example.org')
    await made.look()
    await pass(made, 60_000)
    const until = (await made.state())?.nextAttemptAt
    made.wanted.add('b.example.org')
    expect(await renewed(made, 'b.example.org')).toEqual({ heldUntil: until })
    made.wanted.add('a.example.org').add('carol.example.net')
    await pass(made, day, 30)
    expect(made.authority.asked.filter((one) => one === 'POST /new-order')).toHaveLength(2)
    expect(await made.state()).toMatchObject({ nextAttemptAt: until, fault: { kind: 'rateLimited' } })
    expect(await made.state('a.example.org')).toMatchObject({ nextAttemptAt: until, failures: 0 })
    expect((await made.state('carol.example.net'))?.notAfter).toBeDefined()
    made.authority.answer = () => undefined
    await pass(made, 1.1 * day, 30)
    expect((await made.state('a.example.org'))?.notAfter).toBeDefined()
  })

  test('are renewed below a domain that is limited for names that are new', async () => {
    const made = await begun()
    await pass(made, 30_000)
    await pass(made, 59.5 * day, 20)
    made.authority.answer = limiting('bob.example.org')
    made.wanted.add('bob.example.org')
    await pass(made, 0.1 * day)
    expect(await made.state('bob.example.org')).toMatchObject({ fault: { kind: 'rateLimited' } })
    await pass(made, 0.6 * day, 20)
    expect(await made.state()).toMatchObject({ nextAttemptAt: 0, fault: undefined })
    expect((await findStored(made.reader, name))?.version).toBe(2)
    expect((await renewed(made)).heldUntil).toBeUndefined()
  })

  test('that come due below a domain whose renewals are limited wait with the others', async () => {
    const [first, second, fresh] = [name, 'bob.example.org', 'carol.example.org']
    const made = await begun([first])
    await pass(made, day)
    made.wanted.add(second)
    await pass(made, day)
    await pass(made, 57.9 * day, 20)
    made.authority.answer = limiting(first, second)
    await pass(made, 0.3 * day)
    const held = await made.state(first)
    expect(held).toMatchObject({ failures: 1, fault: { kind: 'rateLimited' } })
    const asked = () => made.authority.asked.filter((one) => one === 'POST /new-order').length
    const before = asked()
    await pass(made, day, 20)
    expect(asked()).toBe(before)
    expect(await made.state(second)).toMatchObject({
      nextAttemptAt: held?.nextAttemptAt,
      failures: 0,
      fault: { kind: 'rateLimited', detail: 'too many certificates' },
    })
    expect((await renewed(made, second)).heldUntil).toBe(held?.nextAttemptAt)
    made.wanted.add(fresh)
    await pass(made, 0.1 * day)
    expect((await made.state(fresh))?.notAfter).toBeDefined()
    made.authority.answer = () => undefined
    await pass(made, 1.2 * day, 20)
    for (const one of [first, second])
      expect(await made.state(one)).toMatchObject({ nextAttemptAt: 0, fault: undefined })
    expect((await findStored(made.reader, second))?.version).toBe(2)
  })

  test('are ordered in the order in which they came due', async () => {
    const made = await begun()
    await pass(made, 30_000)
    const { db, reader } = made
    const start = Math.floor(made.clock.now() / 1000)
    const names = ['b.example', 'a.example', 'd.example', 'c.example']
    for (const [at, one] of names.entries())
      await db.transact(serverTenant, (tx) =>
        insertNames(tx, [{ name: one, zone: one, dueAt: start + at }], start),
      )
    expect(await listDue(reader, start + 10, 9)).toEqual(names)
    await db.transact(serverTenant, (tx) => setNextAttempt(tx, 'b.example', start + 5))
    expect(await listDue(reader, start + 10, 9)).toEqual(names)
    await db.transact(serverTenant, async (tx) => {
      const state = await findState(tx, 'a.example')
      const failed = { fault: { kind: 'dns', detail: '' }, nextAttemptAt: start + 6, now: start }
      if (state) await setFailed(tx, state, failed)
    })
    expect(await listDue(reader, start + 10, 9)).toEqual(['b.example', 'd.example', 'c.example', 'a.example'])
    await db.transact(serverTenant, (tx) => setDue(tx, name, start + 9))
    expect(await listDue(reader, start + 10, 2)).toEqual([name, 'b.example'])
  })

  test('are ordered some at a time, those first that were first', async () => {
    const names = ['z.example.org', ...Array.from({ length: 69 }, (_, at) => `n${at}.example${at}.org`)]
    const made = await lab(names)
    await made.look()
    await pass(made, 30 * 60_000, 20)
    const ordered = () => made.authority.orders.map((order) => order.name).sort()
    // Those of one look are ordered at the same time: in which order they reach the authority is open.
    expect(ordered()).toEqual(names.slice(0, 60).sort())
    await pass(made, 60 * 60_000, 20)
    expect(ordered()).toEqual(names.toSorted())
  })

  test('of names that are not answered for any more are kept for a month, and not renewed', async () => {
    const made = await begun()
    await pass(made, 30_000)
    made.wanted.clear()
    await pass(made, 20 * day, 20)
    expect(await made.state()).toMatchObject({ unwantedSince: expect.any(Number) })
    await pass(made, 12 * day, 20)
    expect(await made.state()).toBeUndefined()
    expect(made.authority.orders).toHaveLength(1)
  })

  test('go with their names, whose orders under way end', async () => {
    const other = 'bob.example.org'
    const made = await begun([name, other])
    const forget = (one: string) => made.db.transact(serverTenant, (tx) => forgetNames(tx, [one]))
    expect((await listChallenges(made.reader, 10)).map((one) => one.name).sort()).toEqual([name, other])
    made.wanted.delete(other)
    await forget(other)
    expect((await listChallenges(made.reader, 10)).map((one) => one.name)).toEqual([name])
    expect(await listJobs(made.reader, { kind: 'certificates.order', subject: other })).toEqual([])
    await pass(made, day)
    expect(await made.state(other)).toBeUndefined()
    expect((await made.state())?.notAfter).toBeDefined()
    await forget(name)
    expect(await made.first.certification.read(name)).toBeUndefined()
    await pass(made, 10 * 60_000)
    expect((await findStored(made.reader, name))?.version).toBe(1)
  })
})

onSqlite('certificates by and by', (open) => {
  const { lab, pass, begun } = certificatesLab(open)

  test('are renewed after two thirds of their life, with the one that they replace', async () => {
    const made = await begun()
    await pass(made, 30_000)
    await pass(made, 59 * day, 20)
    expect(made.authority.orders).toHaveLength(1)
    await pass(made, 1.1 * day, 20)
    expect(made.authority.orders).toHaveLength(2)
    expect((await findStored(made.reader, name))?.version).toBe(2)
  })

  test('are renewed when the authority says so, and name the former one', async () => {
    const made = await lab()
    const now = made.clock.now()
    made.authority.window = (orders) => [now + 10 * orders * day, now + (10 * orders + 1) * day]
    await made.look()
    await pass(made, 30_000)
    await pass(made, 9 * day, 20)
    expect(made.authority.orders).toHaveLength(1)
    await pass(made, 2.1 * day, 20)
    expect(made.authority.orders).toHaveLength(2)
    expect(made.authority.orders[1]?.replaces).toMatch(/^[\w-]+\.AKs$/)
  })

  test.each([
    ['was replaced already', 'alreadyReplaced'],
    ['is of another account', 'unauthorized'],
    ['is of another authority', 'malformed'],
  ])('are ordered without a former one that %s', async (_, type) => {
    const made = await lab()
    const now = made.clock.now()
    made.authority.window = (orders) => [now + 1.5 * orders * day, now + (1.5 * orders + 0.5) * day]
    made.authority.answer = (path, payload) =>
      path === '/new-order' && 'replaces' in (payload as object) ? problem(type, 'not that one') : undefined
    await made.look()
    await pass(made, 30_000)
    await pass(made, 2.5 * day, 20)
    expect((await findStored(made.reader, name))?.version).toBe(2)
  })

  test('are not renewed again and again where the authority always says so', async () => {
    const made = await lab()
    const now = made.clock.now()
    made.authority.window = () => [now - day, now - day / 2]
    await made.look()
    await pass(made, 5 * day, 200)
    expect(made.authority.orders.length).toBeLessThanOrEqual(6)
    expect(made.authority.orders.length).toBeGreaterThan(2)
  })

  test('wait longer after each failure, and are told of once a stage', async () => {
    const made = await begun()
    await pass(made, 30_000)
    made.authority.answer = (path) =>
      path === '/new-order' ? problem('caa', 'CAA forbids\u0007 it\n') : undefined
    await pass(made, 60.5 * day, 40)
    expect(await made.state()).toMatchObject({ fault: { kind: 'caa', detail: 'CAA forbids it' } })
    const orders = made.authority.asked.filter((one) => one === 'POST /new-order').length
    await pass(made, 10 * day, 40)
    // Four times a day.
    expect(made.authority.asked.filter((one) => one === 'POST /new-order').length - orders).toBeLessThan(45)
    expect(made.told).toEqual([[name]])
    await pass(made, 25 * day, 50)
    expect(made.told).toHaveLength(4)
    // What has ended is served all the same: its visitors see why, and nothing stops.
    expect(await made.first.certification.read(name)).toBeDefined()
    made.authority.answer = () => undefined
    await pass(made, 7 * 3_600_000)
    expect(await made.state()).toMatchObject({ failures: 0, warnedStage: 0 })
  })

  test('are not asked for where the DNS does not lead here', async () => {
    const made = await lab()
    made.leads.set(name, 'elsewhere')
    await made.look()
    await pass(made, 2 * day, 50)
    expect(made.authority.asked).toEqual([])
    expect(await made.state()).toMatchObject({ fault: { kind: 'elsewhere' } })
    made.leads.set(name, 'here')
    await pass(made, day, 30)
    expect((await made.state())?.notAfter).toBeDefined()
  })

  test('are not ordered twice when the authority is away for a while', async () => {
    const made = await lab()
    let isAway = true
    made.authority.answer = (path) => {
      if (isAway && path.startsWith('/certificate')) throw new EgressError('timeout', 'no answer')
      return undefined
    }
    await made.look()
    await pass(made, 5 * 60_000, 20)
    expect(await made.state()).toMatchObject({ notAfter: undefined, failures: 0 })
    isAway = false
    await pass(made, 5 * 60_000, 20)
    expect((await made.state())?.notAfter).toBeDefined()
    expect(made.authority.orders).toHaveLength(1)
    isAway = true
    await renewed(made)
    await pass(made, 20 * 60_000, 40)
    expect(await made.state()).toMatchObject({ failures: 1, fault: { kind: 'unreachable' } })
  })

  test('go on when the authority has forgotten the account', async () => {
    const made = await lab()
    made.authority.answer = (path) =>
      path === '/new-order' && made.authority.accounts < 2
        ? problem('accountDoesNotExist', 'who?')
        : undefined
    await made.look()
    await pass(made, 30_000)
    expect(made.authority.accounts).toBe(2)
    expect((await made.state())?.notAfter).toBeDefined()
  })

  test('are got from another authority when it takes the place of the first, whatever that had refused', async () => {
    const limited = 'bob.example.net'
    const made = await lab([name, limited])
    made.authority.answer = limiting(limited)
    await made.look()
    await pass(made, 30_000)
    expect(await made.state(limited)).toMatchObject({ fault: { kind: 'rateLimited' } })
    made.authority.answer = (path, payload) =>
      path === '/new-order' && 'replaces' in (payload as object)
        ? problem('malformed', 'no issuer of mine')
        : undefined
    made.authority.window = () => [made.clock.now() + 50 * day, made.clock.now() + 51 * day]
    made.first.crash()
    const other = await made.addProcess('other', `${made.authority.directoryUrl}/other`)
    await pass({ clock: made.clock, first: other }, 10 * 60_000)
    expect((await findStored(made.reader, name))?.version).toBe(2)
    expect(await made.state(limited)).toMatchObject({ fault: undefined, notAfter: expect.any(Number) })
    expect(new Set(made.authority.orders.map((order) => order.account)).size).toBe(2)
    await pass({ clock: made.clock, first: other }, day)
    expect((await findStored(made.reader, name))?.version).toBe(2)
  })

  test('are renewed without the one that they replace after a failure', async () => {
    const made = await lab()
    const now = made.clock.now()
    made.authority.window = (orders) => [now + 2 * orders * day, now + (2 * orders + 1) * day]
    await made.look()
    await pass(made, 30_000)
    made.authority.answer = (path, payload) =>
      path === '/new-order' && 'replaces' in (payload as object)
        ? problem('serverInternal', 'no such certificate')
        : undefined
    await pass(made, 3.5 * day, 60)
    expect((await findStored(made.reader, name))?.version).toBe(2)
  })

  test('of an order whose account was deactivated in the middle are ordered again', async () => {
    const made = await begun()
    made.clock.advance(2 * 3_600_000)
    made.authority.deactivateAccounts()
    await made.first.jobs.settle()
    expect(await made.state()).toMatchObject({ failures: 1, fault: { kind: 'accountRefused' } })
    await pass(made, 10 * 60_000)
    expect(await made.state()).toMatchObject({ failures: 0, notAfter: expect.any(Number) })
  })

  test('do not have the server make accounts without end', async () => {
    const made = await begun()
    await pass(made, 2 * 3_600_000)
    made.authority.answer = (path) => (path === '/dir' ? undefined : problem('unauthorized', 'go away'))
    await renewed(made)
    await pass(made, 3 * 3_600_000, 60)
    expect(await made.state()).toMatchObject({ fault: { kind: 'accountRefused', detail: 'go away' } })
    const asked = made.authority.asked.filter((one) => one === 'POST /account').length
    // The first one, and at most two for each attempt, of which there are no more than five.
    expect(asked).toBeLessThan(12)
    made.authority.answer = () => undefined
    await pass(made, 7 * 3_600_000, 20)
    expect(await made.state()).toMatchObject({ fault: undefined })
  })

  test('of many names that fail are told of in one mail a day', async () => {
    const names = Array.from({ length: 30 }, (_, at) => `n${at}.example.org`)
    const made = await lab([name, ...names])
    for (const one of names) made.leads.set(one, 'elsewhere')
    await made.look()
    await pass(made, 2 * day, 40)
    expect(made.told.map((told) => told.length)).toEqual([30])
    made.wanted.add('later.example.org')
    made.leads.set('later.example.org', 'elsewhere')
    await pass(made, 2 * day, 40)
    expect(made.told.slice(1)).toEqual([['later.example.org']])
    await pass(made, 30 * day, 60)
    // After a week once more, and then not again.
    expect(made.told.map((told) => told.length)).toEqual([30, 1, 30, 1])
  })

  test.each<[string, string, (made: CertificatesLab) => void]>([
    [
      'that have ended',
      'badCertificate',
      ({ authority }) => {
        authority.lifeSecs = 60
      },
    ],
    [
      'for another name',
      'badCertificate',
      ({ authority }) => {
        authority.certifiedName = 'mallory.example'
      },
    ],
    [
      'with a key that is not ours',
      'badCertificate',
      ({ authority }) => {
        authority.tamper = () => foreignChain(name)
      },
    ],
    [
      'that is no certificate',
      'badCertificate',
      ({ authority }) => {
        authority.tamper = () => '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'
      },
    ],
    [
      'followed by what did not issue it',
      'badCertificate',
      ({ authority }) => {
        authority.tamper = async (chain) => chain + (await createCertificate(['x.example'])).cert
      },
    ],
    [
      'in an endless answer',
      'malformedAnswer',
      ({ authority }) => {
        authority.answer = (path) => {
          if (path.startsWith('/certificate')) throw new EgressError('too-large', 'larger than it may be')
          return undefined
        }
      },
    ],
    [
      'by a redirect to a private address',
      'unreachable',
      ({ authority }) => {
        authority.answer = (path) => {
          if (path.startsWith('/dir')) throw new EgressError('refused', 'localhost is not a public host')
          return undefined
        }
      },
    ],
    [
      'from a directory that leads to http',
      'malformedAnswer',
      ({ authority }) => {
        authority.answer = (path) => {
          const body = { newNonce: 'http://a/', newAccount: 'http://a/', newOrder: 'http://a/' }
          return path === '/dir'
            ? {
                status: 200,
                headers: { 'content-type': 'application/json' },
                body: Buffer.from(JSON.stringify(body)),
              }
            : undefined
        }
      },
    ],
    [
      'from an authority that answers nonsense',
      'malformedAnswer',
      ({ authority }) => {
        authority.answer = (path) =>
          path === '/new-order'
            ? {
                status: 201,
                headers: {
                  'content-type': 'application/json',
                  location: 'https://authority.example/order/0',
                },
                body: Buffer.from('[1,2'),
              }
            : undefined
      },
    ],
  ])('%s are not taken', async (_, kind, spoil) => {
    const made = await lab()
    spoil(made)
    await made.look()
    await pass(made, 30_000)
    expect(await made.state()).toMatchObject({ notAfter: undefined, failures: 1, fault: { kind } })
    expect(await made.first.certification.read(name)).toBeUndefined()
  })
})
