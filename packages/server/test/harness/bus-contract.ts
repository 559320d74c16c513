import { expect, test } from 'vitest'
import type { NodeBus } from '#infra/bus/index.ts'
import { TestClock } from './test-clock.ts'

/** What a listener of a channel has heard. */
export function listen(bus: NodeBus, channel: string) {
  const heard: string[] = []
  let gaps = 0
  const end = bus.subscribe(channel, {
    onMessage: (message) => heard.push(message),
    onGap: () => {
      gaps += 1
    },
  })
  return { heard, end, gaps: () => gaps }
}

/** What holds for a bus of one process and of many. */
export function busContract(open: (clock: TestClock) => Promise<NodeBus>): void {
  test('a message reaches the listeners of its channel in this process at once, in order', async () => {
    const bus = await open(new TestClock())
    const [one, same, other] = [listen(bus, 'a'), listen(bus, 'a'), listen(bus, 'b')]
    bus.publish('a', 'first')
    bus.publish('a', 'second')
    expect([one.heard, same.heard, other.heard]).toEqual([['first', 'second'], ['first', 'second'], []])
    one.end()
    one.end()
    bus.publish('a', 'third')
    expect([one.heard.length, same.heard.length]).toEqual([2, 3])
  })

  test('a mark holds until it is taken away, or its time is over', async () => {
    const clock = new TestClock()
    const bus = await open(clock)
    expect(await bus.isMarked('alice')).toBe(false)
    bus.mark('alice', clock.now() + 60_000)
    bus.mark('bob', clock.now() + 60_000)
    await expect.poll(() => bus.isMarked('alice')).toBe(true)
    bus.unmark('alice')
    await expect.poll(() => bus.isMarked('alice')).toBe(false)
    expect(await bus.isMarked('bob')).toBe(true)
    clock.advance(60_000)
    expect(await bus.isMarked('bob')).toBe(false)
  })
}
