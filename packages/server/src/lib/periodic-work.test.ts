import { expect, test } from 'vitest'
import { TestClock } from '#harness/test-clock.ts'
import { PeriodicWork } from './periodic-work.ts'

function periodic(work: () => Promise<void> | void) {
  const clock = new TestClock()
  const errors: unknown[] = []
  return {
    clock,
    errors,
    periodic: new PeriodicWork({ clock, everyMs: 1000, work, onError: (error) => errors.push(error) }),
  }
}

test('is done every so often while it is started', async () => {
  let runs = 0
  const { clock, periodic: work } = periodic(() => {
    runs += 1
  })
  work.start()
  work.start()
  clock.advance(999)
  expect(runs).toBe(0)
  clock.advance(1)
  await work.settled()
  clock.advance(1000)
  await work.settled()
  expect(runs).toBe(2)
  work.stop()
  clock.advance(5000)
  expect(runs).toBe(2)
})

test('is never done twice at once, and once more for what was asked meanwhile', async () => {
  const finish: (() => void)[] = []
  const { clock, periodic: work } = periodic(() => new Promise((resolve) => finish.push(resolve)))
  work.start()
  clock.advance(1000)
  clock.advance(3000)
  const asked = work.run()
  expect(finish).toHaveLength(1)
  finish[0]?.()
  await expect.poll(() => finish.length).toBe(2)
  finish[1]?.()
  await asked
  expect(finish).toHaveLength(2)
})

test('goes on after a failure', async () => {
  let runs = 0
  const {
    clock,
    errors,
    periodic: work,
  } = periodic(() => {
    runs += 1
    throw new Error(`run ${runs}`)
  })
  work.start()
  clock.advance(1000)
  await work.settled()
  clock.advance(1000)
  await work.settled()
  expect(errors).toEqual([new Error('run 1'), new Error('run 2')])
})
