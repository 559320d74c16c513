import { expect, test } from 'vitest'
import { Turns } from './turns.ts'

test('so many go on in one turn of the event loop, and the others in their order', async () => {
  const turns = new Turns(3)
  const passed: number[] = []
  for (let at = 0; at < 8; at += 1) void turns.take().then(() => passed.push(at))
  const seen: number[] = []
  for (let turn = 0; turn < 4; turn += 1) {
    await Promise.resolve()
    await Promise.resolve()
    seen.push(passed.length)
    await new Promise((resolve) => setImmediate(resolve))
  }
  expect(seen).toEqual([3, 6, 8, 8])
  expect(passed).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
  for (let at = 0; at < 4; at += 1) void turns.take().then(() => passed.push(at))
  await Promise.resolve()
  await Promise.resolve()
  expect(passed).toHaveLength(11)
})
