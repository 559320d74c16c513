import { expect, test } from 'vitest'
import { afterChange, isReceived, type Standing, undoOf } from './relationship.ts'

const nothing: Standing = {
  following: false,
  follower: false,
  connected: 'disconnected',
  status: 'Active',
  relationship: 'none',
}

test.each([
  [nothing, 'follow', { following: true, relationship: 'following' }],
  [nothing, 'connect', { connected: 'pending', relationship: 'pending' }],
  [{ ...nothing, connected: 'connected' }, 'connect', { connected: 'connected', relationship: 'connected' }],
  [
    { ...nothing, connected: 'connected', following: true },
    'disconnect',
    { connected: 'disconnected', relationship: 'following' },
  ],
  [{ ...nothing, following: true }, 'block', { status: 'Blocked', relationship: 'blocked' }],
  [{ ...nothing, following: true, status: 'Blocked' }, 'unblock', { relationship: 'following' }],
  [nothing, 'mute', { status: 'Muted', relationship: 'muted' }],
] as const)('%j, %s: %j', (standing, change, expected) => {
  expect(afterChange(standing, change)).toMatchObject(expected)
})

test('what the other side would have to agree to cannot be undone', () => {
  expect([undoOf('block'), undoOf('unfollow'), undoOf('disconnect'), undoOf('connect')]).toEqual([
    'unblock',
    'follow',
    undefined,
    undefined,
  ])
})

test('posts arrive of those who are followed or connected', () => {
  expect(isReceived(nothing)).toBe(false)
  expect(isReceived({ ...nothing, follower: true, connected: 'pending' })).toBe(false)
  expect(isReceived({ ...nothing, following: true })).toBe(true)
  expect(isReceived({ ...nothing, connected: 'connected' })).toBe(true)
})
