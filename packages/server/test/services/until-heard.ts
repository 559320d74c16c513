import { expect } from 'vitest'
import type { TestServer } from '#harness/test-server.ts'

/** Resolves when two processes that share a Redis hear each other: until then what one says is lost to the other. */
export async function untilHeard(one: TestServer, other: TestServer): Promise<void> {
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
    let hasHeard = false
    const onMessage = () => {
      hasHeard = true
    }
    const end = to.running.services.nodeBus.subscribe('probe', { onMessage })
    await expect
      .poll(() => {
        from.running.services.nodeBus.publish('probe', '?')
        return hasHeard
      })
      .toBe(true)
    end()
  }
}
