import { expect, test } from 'vitest'
import { checkAgain, checkQueued } from './store-token.ts'

test('a failure of this server is not taken for a bad token', () => {
  for (const check of [checkAgain, checkQueued]) {
    expect(check({ token: 'hello' }, 0)).toBeUndefined()
    expect(() => check({ token: null as never }, 0)).toThrow(TypeError)
  }
})
