import type { ActionId } from '@kith/protocol'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ForeignServer as Foreign, type ForeignServer } from '#harness/foreign-server.ts'
import { TestClock } from '#harness/test-clock.ts'
import { createEgress } from '#infra/egress/index.ts'
import { postToken } from './post-token.ts'

const idTag = 'dora.foreign.localhost'
const clock = new TestClock()
const resolver = { resolveAddresses: async () => ({ kind: 'not-found' }) as const }
const egress = createEgress({ privateNetworks: true, resolver, userAgent: 'Kith/test' })
let home: ForeignServer
beforeAll(async () => {
  home = await Foreign.start([idTag], clock)
})
afterAll(async () => {
  await egress.close()
  await home[Symbol.asyncDispose]()
})

test('a token that was withdrawn while the connection was made is not sent, and its delivery ends', async () => {
  const token = home.sign(idTag)
  const { actionId } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as {
    actionId: ActionId
  }
  const signal = new AbortController().signal
  const send = (isStillWanted: boolean) =>
    postToken(
      { egress, clock },
      {
        actionId,
        token,
        inboxUrl: `${home.url}/api/inbox`,
        signal,
        isStillWanted: async () => isStillWanted,
      },
    )
  await expect(send(false)).rejects.toMatchObject({ verdict: { kind: 'dead', isExpected: true } })
  expect(home.deliveries).toEqual([])
  expect(await send(true)).toEqual({ isVerified: true })
})

const aboutToken = { error: { code: 'E-UNAVAILABLE', details: { concerns: 'token' } } }
test.each([
  ['503 alone', 503, '', 'failed'],
  ['503 of a page', 503, '<html>{"concerns":"token"}', 'failed'],
  ['503 of the server', 503, JSON.stringify({ error: { code: 'E-UNAVAILABLE' } }), 'failed'],
  ['503 of a body that is no object', 503, 'null', 'failed'],
  ['503 about the token', 503, JSON.stringify(aboutToken), 'works'],
  ['502 that says the same', 502, JSON.stringify(aboutToken), 'failed'],
  ['429', 429, '', 'nothing'],
] as const)('%s says of the host: %s %s %s', async (_, status, body, group) => {
  const answer = { status, headers: { 'retry-after': '3600' }, body: Buffer.from(body), url: '' }
  const letter = {
    actionId: 'a1~x' as ActionId,
    token: 'x',
    inboxUrl: 'https://dora.foreign.localhost/api/inbox',
    signal: new AbortController().signal,
    isStillWanted: async () => true,
  }
  const answering = { request: async () => answer as never }
  await expect(postToken({ egress: answering, clock }, letter)).rejects.toMatchObject({
    verdict: { kind: 'retry', group, atMs: clock.now() + 3_600_000 },
  })
})
