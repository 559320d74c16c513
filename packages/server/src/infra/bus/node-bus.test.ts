import { afterEach, describe, expect, test } from 'vitest'
import { busContract } from '#harness/bus-contract.ts'
import { TestClock } from '#harness/test-clock.ts'
import { openLocalBus } from './local-bus.ts'
import { Listeners, type NodeBus } from './node-bus.ts'

const opened: NodeBus[] = []
afterEach(async () => {
  for (const bus of opened.splice(0)) await bus[Symbol.asyncDispose]()
})

describe('the bus of one process', () => {
  busContract(async (clock) => {
    const bus = openLocalBus({ clock })
    opened.push(bus)
    return bus
  })

  test('keeps no more marks than it says', async () => {
    const clock = new TestClock()
    const bus = openLocalBus({ clock })
    for (let at = 0; at < 20_001; at += 1) bus.mark(`key ${at}`, clock.now() + 1000)
    expect([await bus.isMarked('key 0'), await bus.isMarked('key 20000')]).toEqual([false, true])
  })
})

test('what a listener cannot read of another process counts as missed, and reaches the others', () => {
  const listeners = new Listeners()
  const seen: string[] = []
  listeners.add('a', {
    onMessage: (message) => void JSON.parse(message),
    onGap: () => seen.push('gap'),
  })
  listeners.add('a', { onMessage: (message) => seen.push(message) })
  expect(listeners.tellFromElsewhere('a', '{')).toBeInstanceOf(SyntaxError)
  expect(listeners.tellFromElsewhere('a', '{}')).toBeUndefined()
  expect(seen).toEqual(['gap', '{', '{}'])
})
