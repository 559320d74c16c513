import { expect, test } from 'vitest'
import { conversationIdOf } from './conversation-id.ts'

test('a conversation has the same id at both', async () => {
  const id = 'c1~RfYuwhJnwBsb_Ul5l6b5Kf1pIRGhBLBHHaY7wP1bo7c'
  const [anna, bob] = ['anna.localhost', 'bob.localhost']
  expect(await conversationIdOf([bob, anna])).toBe(await conversationIdOf([anna, bob]))
  expect(await conversationIdOf([anna, bob])).toHaveLength(id.length)
})
