import { Agent, request } from 'node:http'
import { connect } from 'node:net'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { contract } from '@kith/protocol'
import Type from 'typebox'
import { expect, test } from 'vitest'
import { type HttpSite, startHttpSite } from '#harness/http-site.ts'
import { bind, type Handler } from './endpoint.ts'

const wait = contract({
  name: 'wait',
  method: 'GET',
  path: '/api/wait',
  tag: 'Things',
  summary: 'Wait',
  auth: 'none',
  reply: { kind: 'data', status: 200, schema: Type.String() },
  errors: [],
})

/** A site with one running request on a keep-alive connection. */
async function busySite(handle: Handler<typeof wait>) {
  const begun = Promise.withResolvers<void>()
  const site = await startHttpSite([
    bind(wait, (call) => {
      begun.resolve()
      return handle(call)
    }),
  ])
  const agent = new Agent({ keepAlive: true })
  const answer = new Promise<{ status: number | undefined; body: string; connection: string | undefined }>(
    (resolve, reject) => {
      request({ port: site.port, path: '/api/wait', headers: { host: 'alice.example' }, agent })
        .once('error', reject)
        .once('response', async (response) => {
          const { statusCode: status, headers } = response
          resolve({ status, body: await text(response), connection: headers.connection })
        })
        .end()
    },
  )
  answer.catch(() => {})
  await begun.promise
  return { site, answer, agent }
}

/** Lets the loop turn until the clock's alarms, moved on step by step, have brought the promise about. */
async function advanceUntil(site: HttpSite, promise: Promise<unknown>): Promise<void> {
  let isDone = false
  void promise.finally(() => {
    isDone = true
  })
  while (!isDone) {
    site.clock.advance(50)
    await new Promise(setImmediate)
  }
}

test('a stop refuses new connections and lets running requests end', async () => {
  const goOn = Promise.withResolvers<string>()
  const { site, answer } = await busySite(() => goOn.promise)
  const stopped = site.server.stop()
  const refused = new Promise((resolve) => connect(site.port, '127.0.0.1').once('error', resolve))
  expect(await refused).toMatchObject({ code: 'ECONNREFUSED' })
  goOn.resolve('done')
  const { body, connection } = await answer
  expect(body).toContain('"done"')
  expect(connection).toBe('close')
  await advanceUntil(site, stopped)
})

test('a stop closes idle connections at once', async () => {
  const site = await startHttpSite([])
  const socket = connect(site.port, '127.0.0.1')
  await new Promise((resolve) => socket.once('connect', resolve))
  socket.write('GET / HTTP/1.1\r\nHost: alice.example\r\n\r\n')
  await new Promise((resolve) => socket.once('data', resolve))
  const closed = new Promise((resolve) => socket.once('close', resolve))
  await site.server.stop()
  await closed
})

test('a stop tells handlers to give up after five seconds', async () => {
  const { site, answer } = await busySite(async ({ signal }) => {
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
    return 'gave up'
  })
  const stopped = site.server.stop()
  await advanceUntil(site, stopped)
  expect((await answer).body).toContain('"gave up"')
  expect(site.clock.now()).toBeLessThan(Date.UTC(2026, 0, 1) + 10_000)
})

test('a request that gives up when the server stops is answered with 503, and is no bug', async () => {
  const { site, answer } = await busySite(async ({ signal }) => {
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
    throw signal.reason
  })
  await advanceUntil(site, site.server.stop())
  const { status, body } = await answer
  expect([status, JSON.parse(body).error.code]).toEqual([503, 'E-UNAVAILABLE'])
  expect(site.logged.filter(({ level }) => level === 'error')).toEqual([])
})

test('what breaks before the stop is told to the requests is a bug as ever', async () => {
  const broken = Promise.withResolvers<string>()
  const { site, answer } = await busySite(() => broken.promise)
  const stopped = site.server.stop()
  broken.reject(new TypeError('a bug'))
  expect((await answer).status).toBe(500)
  await advanceUntil(site, stopped)
})

test('a stop answers 503 after ten seconds to what does not end', async () => {
  const { site, answer } = await busySite(() => new Promise(() => {}))
  const stopped = site.server.stop()
  await advanceUntil(site, stopped)
  const { status, connection } = await answer
  expect([status, connection]).toEqual([503, 'close'])
  expect(site.clock.now() - Date.UTC(2026, 0, 1)).toBeGreaterThanOrEqual(10_000)
})

test('a stop breaks off after ten seconds an answer that was begun', async () => {
  const endless = contract({
    ...wait,
    name: 'endless',
    path: '/api/endless',
    reply: { kind: 'bytes', status: 200 },
  })
  const site = await startHttpSite([
    bind(endless, async () => ({
      status: 200 as const,
      headers: {},
      body: async () =>
        Readable.from(
          (async function* () {
            yield Buffer.from('begun')
            await new Promise(() => {})
          })(),
        ),
    })),
  ])
  const begun = Promise.withResolvers<void>()
  const answer = new Promise((resolve, reject) => {
    request({ port: site.port, path: '/api/endless', headers: { host: 'alice.example' } })
      .once('error', reject)
      .once('response', (response) => {
        response.once('data', () => begun.resolve())
        response.once('error', reject).once('end', resolve)
      })
      .end()
  })
  answer.catch(() => {})
  await begun.promise
  await advanceUntil(site, site.server.stop())
  await expect(answer).rejects.toThrow('aborted')
})

test('a handler’s signal is aborted when its client goes away, and not when it has its answer', async () => {
  const signals: AbortSignal[] = []
  const goOn = Promise.withResolvers<string>()
  const { site, answer, agent } = await busySite(({ signal }) => {
    signals.push(signal)
    return goOn.promise
  })
  const gone = new Promise((resolve) => signals[0]?.addEventListener('abort', resolve))
  agent.destroy()
  await gone
  await expect(answer).rejects.toThrow()
  goOn.resolve('done')
  expect((await site.send('/api/wait')).json.data).toBe('done')
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, false])
  await site.close()
})
