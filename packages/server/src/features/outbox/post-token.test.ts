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

test('a token that was withdrawn while the connection was made does not leave, and is done with', async () => {
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
