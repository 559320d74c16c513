import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { connectDocument } from '../src/crdt/index.ts'
import { FakeSocket } from './fake-socket.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

async function start() {
  const sockets: FakeSocket[] = []
  const states: object[] = []
  const document = connectDocument({
    ...{ baseUrl: 'https://alice.example', fileId: 'f1~x', timeoutMs: 3_000 },
    connect: () => {
      sockets.push(new FakeSocket())
      return sockets.at(-1) as FakeSocket
    },
    retry: { firstMs: 1_000, longestMs: 1_000 },
    onRetry: () => undefined,
    onState: (state) => states.push(state),
  })
  await vi.advanceTimersByTimeAsync(10)
  return { document, states, last: () => sockets.at(-1) as FakeSocket }
}

test('content that is on its way is waited for, however long it takes', async () => {
  const { document, last } = await start()
  last().open()
  let isOver = false
  const loading = document.loaded().finally(() => {
    isOver = true
  })
  await vi.advanceTimersByTimeAsync(20_000)
  expect([isOver, document.state]).toEqual([false, { kind: 'loading' }])
  document.close()
  await expect(loading).rejects.toMatchObject({ name: 'ConnectionLost', code: 1000 })
  expect(vi.getTimerCount()).toBe(0)
})

test('without a connection the state says which attempt runs, and when the next one does', async () => {
  const { document, states, last } = await start()
  last().end(1006)
  await vi.advanceTimersByTimeAsync(1_100)
  const lastError = new Error('the connection to wss://alice.example failed: 1006')
  expect(states).toEqual([
    { kind: 'loading', attempt: 1 },
    { kind: 'loading', attempt: 2, nextAttemptAt: expect.any(Number), lastError },
    { kind: 'loading', attempt: 2, lastError },
  ])
  document.close()
})

test('a document that the server has ended keeps no timer, and closing it does no harm', async () => {
  const { document, last } = await start()
  last().open()
  last().end(4404, 'not found')
  expect(document.state).toMatchObject({ kind: 'ended', code: 4404 })
  expect(vi.getTimerCount()).toBe(0)
  document.close()
  document.close()
  document.reconnect()
  expect(vi.getTimerCount()).toBe(0)
})
