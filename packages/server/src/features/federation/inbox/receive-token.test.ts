import type { IdTag } from '@kith/protocol'
import { expect, test } from 'vitest'
import { hashOfToken, type ReceiveOutcome } from '#features/actions/index.ts'
import { eachDialect } from '#harness/each-dialect.ts'
import { club, dora, eve, forged, good, type Inbox, startInbox, tenant } from '#harness/inbox-lab.ts'
import { serverTenant, type TenantId } from '#infra/db/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import type { Delivery } from './check-token.ts'
import { deliverHeldToken } from './hold-token.ts'
import { holdJob } from './inbox-jobs.ts'
import { receiveToken, receiveTokenNow } from './receive-token.ts'
import { storeAtTenants } from './store-token.ts'
import { verifyWaitingToken } from './verify-later.ts'

const hourMs = 3_600_000
const ip = '203.0.113.9'
const mebibyte = 1024 * 1024

eachDialect('a token in the inbox', (open) => {
  const start = () => startInbox(open)
  const tenants = (count: number) => Array.from({ length: count }, (_, at) => tenant(at + 1))
  const numbers = (count: number) => Array.from({ length: count }, (_, at) => at + 1)
  const failing = (code: string, more: object = {}) => expect.objectContaining({ code, ...more })
  /** An announcement of the club, and the token that it announces. */
  const announcement = (inbox: Inbox, signature = good) => {
    const { token, actionId } = inbox.token({ audienceTag: club }, dora, signature)
    const announcing = inbox.token({ type: 'ANNC', subject: actionId, content: { token } }, club)
    return { announcing, actionId }
  }
  const ways = [receiveToken, receiveTokenNow]

  test('is stored at all tenants that it concerns, at once', async () => {
    for (const receive of ways) {
      const inbox = await start()
      inbox.says.concerned = tenants(16)
      const { token, actionId } = inbox.token()
      const receipt = { actionId, verified: true, isProcessed: true }
      expect(await receive(inbox.deps, { token, ip })).toEqual(receipt)
      expect(inbox.storedAt()).toEqual(numbers(16))
      expect(inbox.asked).toEqual([`${dora} for ${ip}`, 'concerned'])
      expect(await inbox.queued('inbox.store')).toEqual([])
    }
  })

  test('is refused when it is forged, or announces a forged one', async () => {
    for (const receive of ways) {
      const inbox = await start()
      const { announcing } = announcement(inbox, forged)
      for (const { token } of [inbox.token({}, dora, forged), announcing])
        await expect(receive(inbox.deps, { token, ip })).rejects.toEqual(failing('E-AUTH-UNAUTH'))
      expect(inbox.asked).not.toContain('concerned')
      expect(inbox.storedAt()).toEqual([])
    }
  })

  test('is refused when the server blocks its issuer, or the issuer of what it announces', async () => {
    for (const receive of ways) {
      const inbox = await start()
      const { announcing } = announcement(inbox)
      for (const blocked of [club, dora]) {
        inbox.says.blocked = new Set([blocked])
        await expect(receive(inbox.deps, { token: announcing.token, ip })).rejects.toEqual(
          failing('E-AUTH-FORBIDDEN'),
        )
      }
      // Not even the keys of blocked issuers are asked for.
      expect(inbox.asked).toEqual([])
    }
  })

  test('is refused when it concerns nobody, but what it withdraws is remembered', async () => {
    for (const receive of ways) {
      const inbox = await start()
      inbox.says.concerned = []
      await expect(receive(inbox.deps, { token: inbox.token().token, ip })).rejects.toEqual(
        failing('E-NOTFOUND'),
      )
      const { actionId: subject } = inbox.token()
      const { token, actionId } = inbox.token({ subType: 'DEL', subject })
      const receipt = { actionId, verified: true, isProcessed: true }
      expect(await receive(inbox.deps, { token, ip })).toEqual(receipt)
      expect(await inbox.withdrawn()).toEqual([subject])
      const late = inbox.token({ subType: 'DEL', subject: inbox.token().actionId }, dora, forged)
      await expect(receive(inbox.deps, { token: late.token, ip })).rejects.toEqual(failing('E-AUTH-UNAUTH'))
      expect(await inbox.withdrawn()).toEqual([subject])
    }
  })

  test('is queued for very many tenants, in the order of its issuer', async () => {
    const inbox = await start()
    inbox.says.concerned = tenants(33)
    const { token, actionId } = inbox.token()
    expect(await receiveToken(inbox.deps, { token, ip })).toEqual({
      actionId,
      verified: true,
      isProcessed: false,
    })
    expect(inbox.storedAt()).toEqual([])
    const queued = await inbox.queued('inbox.store')
    expect(queued.map((it) => it.ordering_key)).toEqual([dora, dora, dora])
    const payloads = queued.map(({ payload }) => JSON.parse(payload))
    expect(payloads.map((it) => it.tenantIds)).toEqual([numbers(16), numbers(32).slice(16), [33]])
    expect(payloads.map((it) => it.token)).toEqual([token, token, token])
    for (const payload of payloads) await storeAtTenants(inbox.deps as never, payload)
    expect(inbox.storedAt()).toEqual(numbers(33))
  })

  test('is stored at as many tenants as five seconds allow while the sender waits', async () => {
    for (const [tookMs, given] of [
      [4999, 48],
      [5000, 16],
    ] as const) {
      const inbox = await start()
      inbox.says.concerned = tenants(48)
      inbox.says.outcome = ({ tenantId }) => {
        if (tenantId === 16) inbox.clock.advance(tookMs)
        return { kind: 'stored' }
      }
      const { token } = inbox.token()
      const { isProcessed } = await receiveTokenNow(inbox.deps, { token, ip })
      expect(inbox.storedAt()).toHaveLength(given)
      expect(isProcessed).toBe(given === 48)
      expect(await inbox.queued('inbox.store')).toHaveLength(given === 48 ? 0 : 2)
    }
  })

  test.each<[string, ReceiveOutcome[], string | undefined, string | undefined]>([
    [
      'blocked everywhere',
      [{ kind: 'blocked' }, { kind: 'blocked' }],
      'E-AUTH-FORBIDDEN',
      'E-AUTH-FORBIDDEN',
    ],
    ['a stranger’s', [{ kind: 'stranger' }, { kind: 'blocked' }], 'E-AUTH-FORBIDDEN', 'E-AUTH-FORBIDDEN'],
    ['blocked by the only one', [{ kind: 'blocked' }], 'E-AUTH-FORBIDDEN', 'E-AUTH-FORBIDDEN'],
    ['blocked by one', [{ kind: 'blocked' }, { kind: 'stored' }], undefined, undefined],
    ['a stranger’s to one', [{ kind: 'known' }, { kind: 'stranger' }], undefined, undefined],
    ['too much', [{ kind: 'stored' }, { kind: 'limited', retryAfterSecs: 9 }], 'E-RATELIMIT', 'E-RATELIMIT'],
    [
      'refused by its type',
      [{ kind: 'stored' }, { kind: 'refused', failure: new Failure('E-VALIDATION') }],
      undefined,
      'E-VALIDATION',
    ],
  ])('is answered by its outcomes: %s', async (_, outcomes, code, codeOfSync) => {
    const inbox = await start()
    inbox.says.concerned = tenants(outcomes.length)
    inbox.says.outcome = ({ tenantId }) => outcomes[tenantId - 1] ?? { kind: 'stored' }
    for (const [receive, expected] of [
      [receiveToken, code],
      [receiveTokenNow, codeOfSync],
    ] as const) {
      const received = receive(inbox.deps, { token: inbox.token().token, ip })
      const retryAfterSecs = expected === 'E-RATELIMIT' ? 9 : undefined
      if (expected) await expect(received).rejects.toEqual(failing(expected, { retryAfterSecs }))
      else expect(await received).toMatchObject({ isProcessed: true })
    }
  })

  test('stays with its sender when all tenants are suspended, and is held here for some', async () => {
    for (const receive of ways) {
      const inbox = await start()
      const delivery = { token: inbox.token().token, ip }
      inbox.says.concerned = [tenant(1, 5), tenant(2, 5)]
      const wait = { retryAfterSecs: 3600, details: { concerns: 'token' } }
      await expect(receive(inbox.deps, delivery)).rejects.toEqual(failing('E-UNAVAILABLE', wait))
      expect(await inbox.queued('inbox.hold')).toEqual([])
      inbox.says.concerned = [tenant(1, 5), tenant(2), tenant(3, 5)]
      for (let times = 0; times < 2; times += 1) await receive(inbox.deps, delivery)
      expect(inbox.storedAt()).toEqual([2, 2])
      const held = await inbox.queued('inbox.hold')
      expect(held.map((it) => it.tenant_id)).toEqual([1, 3])
    }
  })

  test('is held for a suspended tenant in a bounded number', async () => {
    const inbox = await start()
    const { jobs, db } = inbox.deps
    await db.transact(1 as TenantId, async (tx) => {
      const held = { groupKey: '1' }
      for (let n = 0; n < 199; n += 1) await jobs.enqueue(tx, holdJob, inbox.token(), held)
    })
    inbox.says.concerned = [tenant(1, 5), tenant(2)]
    for (let times = 0; times < 2; times += 1)
      await receiveToken(inbox.deps, { token: inbox.token().token, ip })
    expect(await inbox.queued('inbox.hold')).toHaveLength(200)
    expect(inbox.storedAt()).toEqual([2, 2])
  })

  test('is delivered when a suspension has ended, within a week', async () => {
    const inbox = await start()
    const { token } = inbox.token()
    const createdAtMs = inbox.clock.now()
    const hand = () =>
      deliverHeldToken(inbox.deps as never, { token }, { tenantId: 1 as TenantId, createdAtMs })
    inbox.says.concerned = [tenant(1, 5)]
    await expect(hand()).rejects.toThrow('the tenant is suspended')
    inbox.says.concerned = []
    await hand()
    expect(inbox.storedAt()).toEqual([])
    inbox.says.concerned = [tenant(1)]
    inbox.clock.advance(7 * 24 * hourMs - 1)
    await hand()
    expect(inbox.storedAt()).toEqual([1])
    inbox.clock.advance(1)
    await hand()
    expect(inbox.storedAt()).toEqual([1])
  })

  test('is dropped from a queue when it has expired, and waits when the clock was set back', async () => {
    const inbox = await start()
    const now = nowSecs(inbox.clock)
    const store = ({ token }: Delivery) => storeAtTenants(inbox.deps as never, { token, tenantIds: [1, 2] })
    await store(inbox.token({ exp: now }))
    expect(inbox.storedAt()).toEqual([])
    const atMs = (now + 100) * 1000
    await expect(store(inbox.token({ iat: now + 400 }))).rejects.toMatchObject({
      verdict: { kind: 'retry', atMs },
    })
    await store(inbox.token())
    expect(inbox.storedAt()).toEqual([1])
    inbox.says.concerned = [tenant(1, 5), tenant(2)]
    await store(inbox.token())
    expect(inbox.storedAt()).toEqual([1, 2])
    expect(await inbox.queued('inbox.hold')).toHaveLength(1)
  })

  test('is verified again when it comes from a queue', async () => {
    const inbox = await start()
    const context = { tenantId: 1 as TenantId, createdAtMs: inbox.clock.now() }
    const handlers = [
      (token: string) => storeAtTenants(inbox.deps, { token, tenantIds: [1] }),
      (token: string) => deliverHeldToken(inbox.deps, { token }, context),
    ]
    for (const handle of handlers) {
      await handle(inbox.token({}, dora, forged).token)
      await handle(announcement(inbox, forged).announcing.token)
      expect(inbox.storedAt()).toEqual([])
    }
    const { token } = inbox.token()
    inbox.says.unreachable.add(dora)
    for (const handle of handlers)
      await expect(handle(token)).rejects.toMatchObject({ verdict: { kind: 'retry' } })
    inbox.says.unreachable.clear()
    for (const handle of handlers) await handle(token)
    expect(inbox.storedAt()).toEqual([1, 1])
  })

  test('waits when the keys of its issuer cannot be fetched, unless the sender waits', async () => {
    const inbox = await start()
    inbox.says.unreachable.add(dora)
    const { token, actionId } = inbox.token()
    await expect(receiveTokenNow(inbox.deps, { token, ip })).rejects.toEqual(
      failing('E-UNAVAILABLE', { retryAfterSecs: 60, details: { reason: 'key-unavailable' } }),
    )
    for (let times = 0; times < 2; times += 1)
      expect(await receiveToken(inbox.deps, { token, ip })).toEqual({
        actionId,
        verified: false,
        isProcessed: false,
      })
    expect(inbox.storedAt()).toEqual([])
    expect(await inbox.waiting()).toBe(1)
    const [job, ...others] = await inbox.queued('inbox.verify-later')
    expect({ ...job, others }).toMatchObject({ tenant_id: serverTenant, subject: null, others: [] })
    inbox.says.concerned = []
    await receiveToken(inbox.deps, { token: inbox.token().token, ip })
    expect(await inbox.waiting()).toBe(1)
    // The action that it withdraws may wait here.
    await receiveToken(inbox.deps, { token: inbox.token({ subType: 'DEL', subject: actionId }).token, ip })
    const [, withdrawal] = await inbox.queued('inbox.verify-later')
    expect(withdrawal).toMatchObject({ subject: actionId })
  })

  type Waiting = [number, number, { domain?: string; sender?: string }]
  test.each<[string, (bytes: number) => Waiting, (bytes: number) => Waiting]>([
    [
      'tokens of a domain',
      () => [199, 0, { domain: 'one.example' }],
      () => [200, 0, { domain: 'one.example' }],
    ],
    ['tokens of a sender', () => [799, 0, { sender: ip }], () => [800, 0, { sender: ip }]],
    ['tokens', () => [3999, 0, {}], () => [4000, 0, {}]],
    [
      'bytes of a domain',
      (bytes) => [1, 2 * mebibyte - bytes, { domain: 'one.example' }],
      (bytes) => [1, 2 * mebibyte - bytes + 1, { domain: 'one.example' }],
    ],
    [
      'bytes of a sender',
      (bytes) => [1, 4 * mebibyte - bytes, { sender: ip }],
      (bytes) => [1, 4 * mebibyte - bytes + 1, { sender: ip }],
    ],
    ['bytes', (bytes) => [1, 16 * mebibyte - bytes, {}], (bytes) => [1, 16 * mebibyte - bytes + 1, {}]],
  ])('waits in bounds: %s', async (_, room, full) => {
    for (const [waiting, isFull] of [
      [room, false],
      [full, true],
    ] as const) {
      const inbox = await start()
      inbox.says.unreachable.add(dora)
      const announced = inbox.token({ audienceTag: dora }, eve)
      const content = { hash: hashOfToken(announced.token) }
      const announcing = inbox.token({ type: 'ANNC', subject: announced.actionId, content })
      // The announced token counts with it.
      const delivery: Delivery = isFull ? { ...announcing, beside: announced.token } : inbox.token()
      await inbox.wait(...waiting(delivery.token.length + (delivery.beside?.length ?? 0)))
      const received = receiveToken(inbox.deps, { ...delivery, ip })
      if (isFull) await expect(received).rejects.toEqual(failing('E-UNAVAILABLE', { retryAfterSecs: 300 }))
      else expect(await received).toMatchObject({ verified: false })
    }
  })

  test('that waits is counted for two days, and then forgotten', async () => {
    const inbox = await start()
    inbox.says.unreachable.add(dora)
    const twoDaysAgo = nowSecs(inbox.clock) - 2 * 86_400
    await inbox.wait(3, 0, { receivedAt: twoDaysAgo })
    await inbox.wait(2, 0, { receivedAt: twoDaysAgo - 1 })
    await receiveToken(inbox.deps, { token: inbox.token().token, ip })
    expect(await inbox.waiting()).toBe(4)
  })

  test('that waits is stored once its key can be fetched', async () => {
    const inbox = await start()
    inbox.says.unreachable.add(dora)
    const { announcing } = announcement(inbox)
    await receiveToken(inbox.deps, { token: announcing.token, ip })
    const context = { createdAtMs: inbox.clock.now() }
    const [job] = await inbox.queued('inbox.verify-later')
    const tryAgain = () => verifyWaitingToken(inbox.deps, JSON.parse(job?.payload ?? ''), context)
    inbox.asked.length = 0
    await expect(tryAgain()).rejects.toMatchObject({ verdict: { kind: 'retry' } })
    expect(inbox.asked).toEqual([`${club} for waiting`, `${dora} for waiting`])
    expect(await inbox.waiting()).toBe(1)
    inbox.says.unreachable.clear()
    await tryAgain()
    expect(await inbox.waiting()).toBe(0)
    const stored = await inbox.queued('inbox.store')
    expect(stored.map(({ payload }) => JSON.parse(payload).tenantIds)).toEqual([[1]])
  })

  test('that waited withdraws its action, whomever that concerns', async () => {
    const inbox = await start()
    const { actionId: subject } = inbox.token()
    inbox.says.concerned = []
    const withdrawing = inbox.token({ subType: 'DEL', subject })
    await verifyWaitingToken(inbox.deps, withdrawing, { createdAtMs: inbox.clock.now() })
    expect(await inbox.withdrawn()).toEqual([subject])
  })

  test('waits on while its issuer sends too much', async () => {
    const inbox = await start()
    inbox.says.unreachable.add(dora)
    const { token } = inbox.token()
    await receiveToken(inbox.deps, { token, ip })
    inbox.says.unreachable.clear()
    inbox.says.tooMany.add(dora)
    const context = { createdAtMs: inbox.clock.now() }
    const tried = verifyWaitingToken(inbox.deps, { token }, context)
    await expect(tried).rejects.toEqual(failing('E-RATELIMIT'))
    expect(await inbox.waiting()).toBe(1)
  })

  test.each<[string, (inbox: Inbox) => Delivery, (inbox: Inbox) => void]>([
    ['forged', (inbox) => inbox.token({}, dora, forged), () => {}],
    ['a day late', (inbox) => inbox.token(), (inbox) => inbox.clock.advance(24 * hourMs)],
    [
      'expired',
      (inbox) => inbox.token({ exp: nowSecs(inbox.clock) + 9 }),
      (inbox) => inbox.clock.advance(9000),
    ],
    ['of whom the server blocks', (inbox) => inbox.token(), (inbox) => inbox.says.blocked.add(dora)],
    [
      'announcing whom the server blocks',
      (inbox) => announcement(inbox).announcing,
      (inbox) => inbox.says.blocked.add(dora),
    ],
  ])('is dropped from those that wait: %s', async (_, make, change) => {
    const inbox = await start()
    for (const issuer of [dora, club]) inbox.says.unreachable.add(issuer)
    const { token } = make(inbox)
    await receiveToken(inbox.deps, { token, ip })
    expect(await inbox.waiting()).toBe(1)
    const context = { createdAtMs: inbox.clock.now() }
    const [job] = await inbox.queued('inbox.verify-later')
    inbox.says.unreachable.clear()
    change(inbox)
    await verifyWaitingToken(inbox.deps, JSON.parse(job?.payload ?? ''), context)
    expect(await inbox.waiting()).toBe(0)
    expect(await inbox.queued('inbox.store')).toEqual([])
  })

  test.each<[string, IdTag, string, boolean]>([
    ['its issuer', dora, good, true],
    ['another', eve, good, false],
    ['who forges its issuer', dora, forged, false],
  ])('applies a withdrawal that waits for a key: of %s', async (_, issuerTag, signature, isHeeded) => {
    const inbox = await start()
    inbox.says.unreachable.add(dora).add(eve)
    const { token, actionId } = inbox.token()
    const withdrawing = inbox.token({ subType: 'DEL', subject: actionId }, issuerTag, signature)
    await receiveToken(inbox.deps, { token: withdrawing.token, ip })
    expect(await inbox.withdrawn()).toEqual([])
    inbox.says.unreachable.clear()
    await receiveToken(inbox.deps, { token, ip })
    expect(await inbox.withdrawn()).toEqual(isHeeded ? [actionId] : [])
  })

  test.each([
    ['is the twentieth', 19, true],
    ['comes after twenty', 20, false],
  ])('applies a withdrawal that waits for a key and %s', async (_, before, isHeeded) => {
    const inbox = await start()
    inbox.says.unreachable.add(dora)
    const { token, actionId } = inbox.token()
    for (let at = 0; at <= before; at += 1) {
      const signature = at === before ? good : forged
      const withdrawing = inbox.token({ subType: 'DEL', subject: actionId }, dora, signature)
      await receiveToken(inbox.deps, { token: withdrawing.token, ip })
    }
    inbox.says.unreachable.clear()
    await receiveToken(inbox.deps, { token, ip })
    expect(await inbox.withdrawn()).toEqual(isHeeded ? [actionId] : [])
  })

  test('ignores a withdrawal that expired while it waited', async () => {
    const inbox = await start()
    inbox.says.unreachable.add(dora)
    const { token, actionId } = inbox.token()
    const exp = nowSecs(inbox.clock) + 9
    const withdrawing = inbox.token({ subType: 'DEL', subject: actionId, exp })
    await receiveToken(inbox.deps, { token: withdrawing.token, ip })
    inbox.says.unreachable.clear()
    inbox.clock.advance(9000)
    await receiveToken(inbox.deps, { token, ip })
    expect(await inbox.withdrawn()).toEqual([])
    expect(inbox.storedAt()).toEqual([1])
  })

  test('is subject to a withdrawal of what it announces, too', async () => {
    const inbox = await start()
    inbox.says.unreachable.add(dora)
    const { announcing, actionId } = announcement(inbox)
    const withdrawing = inbox.token({ subType: 'DEL', subject: actionId })
    await receiveToken(inbox.deps, { token: withdrawing.token, ip })
    inbox.says.unreachable.clear()
    await receiveToken(inbox.deps, { token: announcing.token, ip })
    expect(await inbox.withdrawn()).toEqual([actionId])
  })
})
