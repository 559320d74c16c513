import { expect, test } from 'vitest'
import { EventLoopTurns } from './event-loop-turns.ts'

/** Works for as long as a turn may take. */
function work(): void {
  const untilMs = performance.now() + 9
  while (performance.now() < untilMs);
}

test('work of several that wait goes on in turns of its own: one in each', async () => {
  const order: string[] = []
  const worker = async (name: string) => {
    const turns = new EventLoopTurns()
    work()
    await turns.giveWay()
    order.push(name)
  }
  const workers = Promise.all([worker('a'), worker('b'), worker('c')])
  const count = () => {
    order.push('|')
    counting = setImmediate(count)
  }
  let counting = setImmediate(count)
  await workers
  clearImmediate(counting)
  expect(order.join('')).toMatch(/^\|?a\|+b\|+c$/)
})

test('short work goes on at once', async () => {
  expect(await new EventLoopTurns().giveWay()).toBe(false)
})
