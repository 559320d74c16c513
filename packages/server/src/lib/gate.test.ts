import { expect, test } from 'vitest'
import { Gate, GateFullError } from './gate.ts'

const limits = { total: 3, perKey: 2, waitingPerKey: 2, waiting: 3 }

/** Enters and notes it, so that a test sees who is in without waiting for who is not. */
function visitors(gate: Gate) {
  const inside: string[] = []
  return {
    inside,
    async visit(name: string, key: string) {
      const leave = await gate.enter(key)
      inside.push(name)
      return () => {
        inside.splice(inside.indexOf(name), 1)
        leave()
      }
    },
  }
}

const settled = () => new Promise((resolve) => setImmediate(resolve))

test('lets only so many in per key, the next in order when one leaves', async () => {
  const { inside, visit } = visitors(new Gate(limits))
  const leaveFirst = await visit('first', 'a')
  await visit('second', 'a')
  const third = visit('third', 'a')
  const fourth = visit('fourth', 'a')
  await settled()
  expect(inside).toEqual(['first', 'second'])
  leaveFirst()
  const leaveThird = await third
  expect(inside).toEqual(['second', 'third'])
  leaveThird()
  await fourth
  expect(inside).toEqual(['second', 'fourth'])
})

test('lets another key pass those who wait', async () => {
  const { inside, visit } = visitors(new Gate(limits))
  await visit('a1', 'a')
  await visit('a2', 'a')
  void visit('a3', 'a')
  await visit('b1', 'b')
  expect(inside).toEqual(['a1', 'a2', 'b1'])
})

test('lets only so many in altogether', async () => {
  const { inside, visit } = visitors(new Gate(limits))
  const leave = await visit('a', 'a')
  await visit('b', 'b')
  await visit('c', 'c')
  const fourth = visit('d', 'd')
  await settled()
  expect(inside).toEqual(['a', 'b', 'c'])
  leave()
  await fourth
  expect(inside).toEqual(['b', 'c', 'd'])
})

test('turns away when too many wait for one key, or in all', async () => {
  const gate = new Gate({ ...limits, total: 1, waitingPerKey: 1 })
  await gate.enter('a')
  void gate.enter('a')
  await expect(gate.enter('a')).rejects.toThrow(GateFullError)
  void gate.enter('b')
  void gate.enter('c')
  await expect(gate.enter('d')).rejects.toThrow(GateFullError)
})

test('forgets a waiter that gave up', async () => {
  const gate = new Gate({ ...limits, total: 1, waiting: 1 })
  const leave = await gate.enter('a')
  const control = new AbortController()
  const waiting = gate.enter('a', control.signal)
  control.abort(new Error('too late'))
  await expect(waiting).rejects.toThrow('too late')
  const next = gate.enter('b')
  leave()
  await expect(next).resolves.toBeTypeOf('function')
})

test('does not let in who has given up before', async () => {
  await expect(new Gate(limits).enter('a', AbortSignal.abort(new Error('gone')))).rejects.toThrow('gone')
})

test('counts a leaver once', async () => {
  const gate = new Gate({ ...limits, total: 1 })
  const leave = await gate.enter('a')
  leave()
  leave()
  await gate.enter('b')
  const control = new AbortController()
  const third = gate.enter('c', control.signal)
  control.abort(new Error('full'))
  await expect(third).rejects.toThrow('full')
})

test('lets keys take turns, however many wait for one', async () => {
  const gate = new Gate({ total: 1, perKey: 1, waitingPerKey: 100, waiting: 100 })
  const leave = await gate.enter('first')
  const order: string[] = []
  const visits = [...'aaaaabbc'].map(async (key) => {
    const leaveNext = await gate.enter(key)
    order.push(key)
    leaveNext()
  })
  leave()
  await Promise.all(visits)
  expect(order.join('')).toBe('abcabaaa')
})

test('turns away the last of the key that fills the queue, not who comes next', async () => {
  const gate = new Gate({ total: 1, perKey: 1, waitingPerKey: 4, waiting: 4 })
  const leave = await gate.enter('a')
  const waiting = ['a', 'a', 'a', 'a'].map((key) => gate.enter(key))
  const newcomer = gate.enter('b')
  await expect(waiting[3]).rejects.toThrow(GateFullError)
  const second = gate.enter('b')
  await expect(waiting[2]).rejects.toThrow(GateFullError)
  // Both have two by now.
  await expect(gate.enter('b')).rejects.toThrow(GateFullError)
  leave()
  ;(await waiting[0])?.()
  ;(await newcomer)()
  ;(await waiting[1])?.()
  await expect(second).resolves.toBeTypeOf('function')
})
