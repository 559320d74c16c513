import type { IdTag } from '@kith/protocol'
import { describe, expect, test } from 'vitest'
import { tenant } from '#harness/inbox-lab.ts'
import { type Egress, EgressError } from '#infra/egress/index.ts'
import { JobVerdict } from '#infra/jobs/index.ts'
import { type RequestHistoryDeps, requestHistory } from './request-history.ts'

type Server = Awaited<ReturnType<RequestHistoryDeps['findServer']>>
type Answer = Awaited<ReturnType<Egress['request']>>

const { signal } = new AbortController()
const found: Server = { kind: 'found', serverUrl: 'https://one.example' }
const answer = (status: number, body: unknown): Answer => ({
  status,
  headers: {},
  body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
})

/** The result for an answer, or for a failure to get one. */
async function ask(outcome: Answer | Error, server = found) {
  const asked: object[] = []
  const deps: RequestHistoryDeps = {
    egress: {
      request: async (request) => {
        asked.push(request)
        if (outcome instanceof Error) throw outcome
        return outcome
      },
    },
    findServer: async () => server,
    proxyToken: async ({ idTag }, target) => `${idTag} at ${target}`,
  }
  const question = { tenant: tenant(1), idTag: 'dora.one.example' as IdTag, since: 7 }
  const history = await requestHistory(deps, question, signal).catch((error: unknown) => error)
  return { history, asked }
}

describe('the history of an identity', () => {
  const items = ['one', 'two']

  test('is requested from its server, as the tenant', async () => {
    const { history, asked } = await ask(answer(200, { data: { items } }))
    expect(history).toEqual(items)
    const headers = { accept: 'application/json', authorization: 'Bearer t1.example at dora.one.example' }
    const url = 'https://one.example/api/outbox?since=7&limit=50'
    expect(asked).toEqual([{ method: 'GET', url, headers, signal }])
  })

  test.each<[string, Answer, Server?]>([
    ['has none', answer(404, { data: { items } })],
    ['answers something else', answer(200, { data: { items: [1] } })],
    ['says less than 500', answer(499, '')],
    ['says less than 401', answer(400, '')],
    ['says more than 401', answer(402, '')],
    ['says less than 429', answer(428, '')],
    ['says more than 429', answer(430, '')],
    ['is gone', answer(200, { data: { items } }), { kind: 'unknown', isGone: true }],
  ])('is empty when its server %s', async (_, given, server) => {
    expect((await ask(given, server)).history).toEqual([])
  })

  test.each<[string, Answer | Error, string, Server?]>([
    ['is busy', answer(429, ''), 'HTTP 429'],
    ['does not accept the token', answer(401, ''), 'HTTP 401'],
    ['fails', answer(500, ''), 'HTTP 500'],
    ['is behind a proxy with pages of its own', answer(200, '<html>'), 'no JSON'],
    ['does not answer', new EgressError('timeout', 'too slow'), 'timeout: too slow'],
    ['is not known', answer(200, { data: { items } }), 'cannot be reached', { kind: 'unknown' }],
    ['cannot be found', answer(200, { data: { items } }), 'cannot be reached', { kind: 'unreachable' }],
  ])('is requested again when its server %s', async (_, outcome, message, server) => {
    const { history } = await ask(outcome, server)
    expect(history).toBeInstanceOf(JobVerdict)
    expect(history).toMatchObject({ message: expect.stringContaining(message), verdict: { kind: 'retry' } })
  })

  test('stops at a failure of this server', async () => {
    const broken = new TypeError('broken')
    expect((await ask(broken)).history).toBe(broken)
  })
})
