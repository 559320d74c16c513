import { expect, test } from 'vitest'
import { LongRequests, longRequestLimits } from './long-requests.ts'

const { signal } = new AbortController()

/** Work that goes on until it is ended. */
function work() {
  const { promise, resolve } = Promise.withResolvers<void>()
  let isUnderWay = false
  const run = () => {
    isUnderWay = true
    return promise
  }
  return { run, end: resolve, isUnderWay: () => isUnderWay }
}

test('two long requests are done at a time, one of a tenant', async () => {
  const requests = new LongRequests()
  const works = [work(), work(), work(), work()] as const
  const running = works.map(({ run }, at) => requests.run([1, 1, 2, 3][at] ?? 0, signal, run))
  const underWay = async () => {
    await new Promise((resolve) => setImmediate(resolve))
    return works.map(({ isUnderWay }) => isUnderWay())
  }
  expect(await underWay()).toEqual([true, false, true, false])
  works[2].end()
  expect(await underWay()).toEqual([true, false, true, true])
  works[0].end()
  expect(await underWay()).toEqual([true, true, true, true])
  for (const { end } of works) end()
  expect(await Promise.all(running)).toEqual(['done', 'done', 'done', 'done'])
})

test('so many of a tenant wait, and those of clients that have gone do not', async () => {
  const requests = new LongRequests()
  const first = work()
  const none = async () => undefined
  const running = requests.run(1, signal, first.run)
  const gone = new AbortController()
  const waiting = Array.from({ length: longRequestLimits.waitingPerKey }, () =>
    requests.run(1, gone.signal, none),
  )
  expect(await requests.run(1, signal, none)).toBe('full')
  gone.abort()
  expect(new Set(await Promise.all(waiting))).toEqual(new Set(['gone']))
  const next = requests.run(1, signal, none)
  first.end()
  expect(await Promise.all([running, next])).toEqual(['done', 'done'])
})

test('a request that fails lets the next one in', async () => {
  const requests = new LongRequests()
  const failing = requests.run(1, signal, () => Promise.reject(new Error('no')))
  const next = requests.run(1, signal, async () => undefined)
  await expect(failing).rejects.toThrow('no')
  expect(await next).toBe('done')
})
