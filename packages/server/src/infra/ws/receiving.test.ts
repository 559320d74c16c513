import { expect, test } from 'vitest'
import { Receiving, type Reception } from './receiving.ts'

const kib = 1024

/** A socket that notes what it is told. */
function socket(receiving: Receiving): { reception: Reception; state: string } {
  const made = { state: 'reading' } as { reception: Reception; state: string }
  made.reception = receiving.open({
    stopReading: () => {
      made.state = 'stopped'
    },
    readOn: () => {
      made.state = 'reading'
    },
    giveUp: () => {
      made.state = 'given up'
    },
  })
  return made
}

test('above the bound the oldest message goes on, small ones do as well, and others wait', () => {
  const receiving = new Receiving(1000 * kib)
  const [first, second, third, small] = Array.from({ length: 4 }, () => socket(receiving)) as [
    ReturnType<typeof socket>,
    ReturnType<typeof socket>,
    ReturnType<typeof socket>,
    ReturnType<typeof socket>,
  ]
  const states = () => [first, second, third, small].map(({ state }) => state)
  first.reception.came(500 * kib, true)
  second.reception.came(400 * kib, true)
  third.reception.came(200 * kib, true)
  first.reception.came(64 * kib, true)
  small.reception.came(1 * kib, false)
  expect(states()).toEqual(['reading', 'reading', 'stopped', 'reading'])
  second.reception.came(64 * kib, true)
  expect(states()).toEqual(['reading', 'stopped', 'stopped', 'reading'])
  // It has come to its end, and its handler is done with it.
  first.reception.came(64 * kib, false)
  first.reception.handled(628 * kib)
  expect(states()).toEqual(['reading', 'reading', 'reading', 'reading'])
  for (const { reception } of [first, second, third, small]) reception.end()
  expect(receiving.bytes).toBe(0)
})

test('room is given as far as it goes, and to the oldest in any case', () => {
  const receiving = new Receiving(1000 * kib)
  const sockets = Array.from({ length: 5 }, () => socket(receiving))
  for (const { reception } of sockets) reception.came(300 * kib, true)
  const states = () => sockets.map(({ state }) => state)
  expect(states()).toEqual(['reading', 'reading', 'reading', 'stopped', 'stopped'])
  for (const { reception } of sockets) reception.came(64 * kib, true)
  expect(states()).toEqual(['reading', 'stopped', 'stopped', 'stopped', 'stopped'])
  sockets[0]?.reception.end()
  expect(states()).toEqual(['reading', 'reading', 'stopped', 'stopped', 'stopped'])
  sockets[1]?.reception.end()
  expect(states().slice(2)).toEqual(['reading', 'stopped', 'stopped'])
  sockets[2]?.reception.end()
  expect(states().slice(3)).toEqual(['reading', 'reading'])
})

test('a message on which others wait is given up when hardly anything of it comes', () => {
  const receiving = new Receiving(1000 * kib)
  const [stalled, other, fast] = [socket(receiving), socket(receiving), socket(receiving)]
  stalled.reception.came(900 * kib, true)
  const tick = (times: number) => {
    for (let at = 0; at < times; at += 1) receiving.tick()
  }
  // As long as nobody waits it may take its time.
  tick(100)
  other.reception.came(200 * kib, true)
  fast.reception.came(200 * kib, true)
  expect([other.state, fast.state]).toEqual(['stopped', 'stopped'])
  tick(5)
  stalled.reception.came(1, true)
  expect([stalled.state, other.state]).toEqual(['reading', 'stopped'])
  tick(1)
  expect([stalled.state, other.state]).toEqual(['given up', 'reading'])
  stalled.reception.end()
  expect(fast.state).toBe('reading')
  expect(receiving.bytes).toBe(400 * kib + 2 * 256)
})

test('many pieces of nothing count as well', () => {
  const receiving = new Receiving(1000 * kib)
  const [first, second] = [socket(receiving), socket(receiving)]
  for (let at = 0; at < 2000; at += 1) first.reception.came(1, true)
  for (let at = 0; at < 3000; at += 1) second.reception.came(1, true)
  expect([first.state, second.state]).toEqual(['reading', 'stopped'])
  second.reception.came(0, false)
  expect(receiving.bytes).toBe(2000 * 257 + 3000)
})
